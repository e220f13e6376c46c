import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** As strict as the core's own, with the core of this checkout, whatever the folder has of its own. */
const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.NodeNext,
  lib: ['lib.esnext.d.ts'],
  types: ['node'],
  typeRoots: [`${root}node_modules/@types`],
  paths: { '@dispatch/core/provider': [`${root}core/packages/host/provider.ts`] },
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  erasableSyntaxOnly: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true
}

/** The faults of the TypeScript of a folder (a real path), each with its place. Plain JavaScript has none. */
export function typeFaults (folder: string, entry: string): string[] {
  if (!entry.endsWith('.ts')) return []
  const program = ts.createProgram([entry], options)
  const own = program.getSourceFiles().filter(({ fileName }) =>
    fileName.startsWith(folder + sep) && !fileName.slice(folder.length).includes('/node_modules/')
  )
  const found = [
    ...program.getOptionsDiagnostics(),
    ...own.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
  ]
  return found.map(({ file, start = 0, messageText }) => {
    const message = ts.flattenDiagnosticMessageText(messageText, '\n')
    return file === undefined
      ? message
      : `${relative(folder, file.fileName)}:${file.getLineAndCharacterOfPosition(start).line + 1}: ${message}`
  })
}
