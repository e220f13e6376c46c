import { countOf, runConformanceInChild } from '@dispatch/conformance/command'
import type { AdapterPackage, Attestation } from '@dispatch/marketplace'
import kit from '../../core/packages/conformance/package.json' with { type: 'json' }
import { withUnpacked } from '../provider/unpacked.ts'

/** What came of the kit: a statement for the catalog, or how many cases failed. */
export type Attested = { attested: Attestation } | { failed: number }

/** The version of the kit that is run here. */
export const kitVersion = kit.version

/** Runs the conformance kit on a package, in a process of its own. */
export async function attest ({ files }: AdapterPackage, by: string): Promise<Attested> {
  const { passed, failed, skipped } = countOf(await withUnpacked(files, (folder) => runConformanceInChild(folder)))
  return failed > 0 || passed === 0 ? { failed } : { attested: attestationOf({ kit: kitVersion, passed, skipped }, by) }
}

/** The statement of a run of the kit, which has just ended unless told. */
export function attestationOf (
  { kit, passed, skipped }: Pick<Attestation, 'kit' | 'passed' | 'skipped'>,
  by: string,
  at: Date = new Date()
): Attestation {
  return { kit, passed, skipped, at: at.toISOString(), by }
}
