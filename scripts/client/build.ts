import { transform } from 'esbuild'
import { cp, glob, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { parse } from 'yaml'
import { type JsonSchema, typesOf } from '../../core/packages/client/command/types.ts'
import type { Document } from './document.ts'
import { generateClient } from './generate.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const source = join(root, 'core/packages/client')
const vocabularyFile = join(root, 'core/packages/common/invoice.schema.json')

/** Writes the package `@dispatch/client`, as it is published, into an empty or a new folder: for the API that a document describes. */
export async function buildClient (document: Document, folder: string): Promise<void> {
  const { schema, index } = await generateClient(document)
  const work = await realpath(await mkdtemp(join(tmpdir(), 'dispatch-client-')))
  try {
    await cp(source, join(work, 'runtime'), {
      recursive: true,
      filter: (path) => path.endsWith('.ts') || [source, join(source, 'command')].includes(path)
    })
    await writeFile(join(work, 'package.json'), '{ "type": "module" }')
    await writeFile(join(work, 'schema.ts'), schema)
    await writeFile(join(work, 'templates.ts'), await shippedTypes())
    await writeFile(join(work, 'index.ts'), index)
    await mkdir(folder, { recursive: true })
    await compile(work, join(folder, 'dist'))
    // Schemas of templates refer to it.
    await cp(vocabularyFile, join(folder, 'dist/runtime/command/invoice.schema.json'))
  } finally {
    await rm(work, { recursive: true })
  }
  const { name, version, description, license, engines } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as Manifest
  const manifest = {
    name,
    version,
    description,
    license,
    type: 'module',
    engines,
    sideEffects: false,
    bin: { dispatch: './dist/runtime/command/main.js' },
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    files: ['dist']
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  await cp(join(source, 'README.md'), join(folder, 'README.md'))
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'))
}

/** The types of the data of the templates that every service has. */
async function shippedTypes (): Promise<string> {
  const templates: { id: number, name: string, schema: JsonSchema }[] = []
  for await (const file of glob('templates/*/template.yaml', { cwd: root })) {
    const { id, name } = parse(await readFile(join(root, file), 'utf8')) as { id: number, name: string }
    const schema = await readFile(join(root, dirname(file), 'schema.json'), 'utf8')
    templates.push({ id, name, schema: JSON.parse(schema) as JsonSchema })
  }
  const vocabulary = { 'dispatch:invoice': JSON.parse(await readFile(vocabularyFile, 'utf8')) as object }
  return typesOf(templates.sort((one, other) => one.id - other.id), vocabulary)
}

type Manifest = { name: string, version: string, description: string, license: string, engines: object }

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
  strict: true,
  exactOptionalPropertyTypes: true,
  rewriteRelativeImportExtensions: true,
  verbatimModuleSyntax: true,
  declaration: true
}

/** Compiles to what Node 20 and browsers run: declarations with what they say, code without, and without
 * spaces, but with its names. Throws with the first thing that is wrong. */
async function compile (folder: string, outDir: string): Promise<void> {
  const program = ts.createProgram([join(folder, 'index.ts'), join(folder, 'runtime/command/main.ts')], {
    ...options,
    rootDir: folder,
    outDir
  })
  const [first] = ts.getPreEmitDiagnostics(program)
  if (first !== undefined) {
    throw new Error(
      `The client does not compile: ${
        ts.formatDiagnostic(first, {
          getCanonicalFileName: (name) => name,
          getCurrentDirectory: () => folder,
          getNewLine: () => '\n'
        })
      }`
    )
  }
  const files = new Map<string, string>()
  // A declaration keeps the names that it was written with.
  program.emit(undefined, (path, text) => files.set(path, text.replaceAll(/(?<= from '\.[^']*)\.ts(?=';)/g, '.js')), undefined, true)
  for (const { fileName, text, isDeclarationFile } of program.getSourceFiles()) {
    if (isDeclarationFile) continue
    const { outputText } = ts.transpileModule(text, {
      fileName,
      compilerOptions: { ...options, module: ts.ModuleKind.ES2022, removeComments: true }
    })
    const { code } = await transform(outputText, { format: 'esm', target: 'es2022', minifySyntax: true, minifyWhitespace: true })
    files.set(join(outDir, relative(folder, fileName)).replace(/\.ts$/, '.js'), code)
  }
  for (const [path, text] of files) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
}
