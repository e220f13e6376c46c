import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'
import ts from 'typescript'

/** The files of a tree that may import each other, and for each one those that it imports. Paths are relative to the root of the tree. */
export type Imports = { files: readonly string[], of: (file: string) => readonly string[] }

/** A file that is imported or handed on, and under which names; undefined: all of it. */
type Link = { file: string, names: readonly string[] | undefined }

/** What a file imports, and of what it hands on: the file and the name there, by its own name. */
type Module = { links: readonly Link[], handsOn: ReadonlyMap<string, { file: string, name: string }> }

const sources = '{core,plugins,providers,scripts,test}/**/*.{ts,mts,mjs,js}'
const workspaces = '{core,plugins}/{package.json,packages/{*,features/*}/package.json}'

/** What the service finds at its start, without an import. */
const found = { by: 'plugins/container.ts', what: ['core/packages/features/*/index.ts', 'providers/{,community/}*/index.ts'] }

/**
 * Reads who imports whom in the tree at `root`, and who starts whom as a program or a thread. Types are left out: the compiler sees
 * what a change of them breaks. A name that a file only hands on is imported from where it is.
 */
export function readImports (root: string): Imports {
  const files = globSync(sources, { cwd: root, exclude: ['**/node_modules'] }).sort()
  const entries = entriesOf(root)
  const modules = new Map(files.map((file) => [file, moduleOf(root, file, entries)]))
  const homesOf = ({ file, names }: Link): string[] => {
    const handsOn = modules.get(file)?.handsOn
    return names?.flatMap((name) => {
      const from = handsOn?.get(name)
      return from === undefined ? [file] : homesOf({ file: from.file, names: [from.name] })
    }) ?? [file]
  }
  const imports = new Map([...modules].map(([file, { links }]) => [file, [...new Set(links.flatMap(homesOf))]]))
  imports.get(found.by)?.push(...globSync(found.what, { cwd: root }))
  return { files, of: (file) => imports.get(file) ?? [] }
}

/** The exported names of the workspaces, and the files behind them. */
function entriesOf (root: string): Map<string, string> {
  return new Map(globSync(workspaces, { cwd: root }).flatMap((path) => {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, path), 'utf8')) as { name: string, exports?: Record<string, string> }
    return Object.entries(exports).map(([way, file]): [string, string] => [join(name, way), join(dirname(path), file)])
  }))
}

/** What is started as a program or a thread, or imported when it is needed. */
const others = /\bimport\('([^']+)'\)|new URL\('([^']+\.(?:ts|mjs|js))', import\.meta\.url\)/g

function moduleOf (root: string, path: string, entries: ReadonlyMap<string, string>): Module {
  const text = readFileSync(join(root, path), 'utf8')
  const links: Link[] = []
  const handsOn = new Map<string, { file: string, name: string }>()
  for (const statement of ts.createSourceFile(path, text, ts.ScriptTarget.ESNext).statements) {
    if (!(ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) || statement.moduleSpecifier === undefined) continue
    const file = fileOf((statement.moduleSpecifier as ts.StringLiteral).text)
    const names = namesOf(statement)
    if (file === undefined || names?.length === 0) continue
    links.push({ file, names: names?.map(({ theirs }) => theirs) })
    if (ts.isExportDeclaration(statement)) { for (const { own, theirs } of names ?? []) handsOn.set(own, { file, name: theirs }) }
  }
  for (const [, imported, started] of text.matchAll(others)) {
    const file = fileOf(imported ?? `./${started ?? ''}`)
    if (file !== undefined) links.push({ file, names: undefined })
  }
  return { links, handsOn }

  function fileOf (name: string): string | undefined {
    return name.startsWith('.') ? join(dirname(path), name) : entries.get(name)
  }
}

/** The values that are imported or handed on by name: none if only types are. Undefined: all. */
function namesOf (statement: ts.ImportDeclaration | ts.ExportDeclaration): { own: string, theirs: string }[] | undefined {
  const imported = ts.isImportDeclaration(statement) ? statement.importClause : undefined
  if (imported?.phaseModifier === ts.SyntaxKind.TypeKeyword || (ts.isExportDeclaration(statement) && statement.isTypeOnly)) return []
  const clause = ts.isImportDeclaration(statement) ? imported?.namedBindings : statement.exportClause
  if (clause === undefined || imported?.name !== undefined || !(ts.isNamedImports(clause) || ts.isNamedExports(clause))) return undefined
  return clause.elements.filter(({ isTypeOnly }) => !isTypeOnly)
    .map(({ name, propertyName }) => ({ own: name.text, theirs: (propertyName ?? name).text }))
}
