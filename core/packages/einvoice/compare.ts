/**
 * Compares the ids and severities of our rules with those of the artefacts that they follow (artefacts.json). The artefacts are not here:
 *
 *     git clone https://github.com/ConnectingEurope/eInvoicing-EN16931 /tmp/artefacts/eInvoicing-EN16931
 *     git clone https://github.com/OpenPEPPOL/peppol-bis-invoice-3 /tmp/artefacts/peppol-bis-invoice-3
 *     git clone https://github.com/itplr-kosit/xrechnung-schematron /tmp/artefacts/xrechnung-schematron
 *     node core/packages/einvoice/compare.ts /tmp/artefacts
 *
 * False refusals: write data that a rule refuses all the same (`eInvoiceOf` of `write/write.ts` asks no rule), and give the file to the
 * validator that comes with the artefacts. What it accepts, we refuse wrongly.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { EInvoiceProfile } from './model/profiles.ts'
import { knownRules, type Severity } from './rules/known.ts'

/** An artefact; one without a file has no schematron that is open to all. */
type Artefact = { name: string, version: string, source: string, file?: string, profile?: EInvoiceProfile, syntax?: 'UBL' | 'CII' }

/** The rules of a schematron by their ids. */
export function rulesIn (schematron: string): Map<string, Severity> {
  const asserts = schematron.replaceAll(/<!--[^]*?-->/g, '').matchAll(/<(?:assert|report)\b((?:[^>"']|"[^"]*"|'[^']*')*)>/g)
  return new Map([...asserts].flatMap(([, attributes = '']): [string, Severity][] => {
    const [, id] = /\bid=["']([^"']+)["']/.exec(attributes) ?? []
    return id === undefined ? [] : [[id, /\bflag=["'](warning|information)["']/.test(attributes) ? 'warning' : 'fatal']]
  }))
}

/** Names of EN 16931 for categories whose rules have other names in some artefacts. */
const alike = (id: string): string => id.replace(/^BR-IG-/, 'BR-AF-').replace(/^BR-IP-/, 'BR-AG-')

/** What differs, a line for each rule. Rules of ours that other artefacts bring are not told. */
export function differences (theirs: ReadonlyMap<string, Severity>, ours: ReadonlyMap<string, Severity>): string[] {
  const families = new Set([...theirs.keys()].map((id) => id.replace(/\d.*$/, '')))
  const known = new Map([...ours].map(([id, severity]) => [alike(id), severity]))
  const named = new Set([...theirs.keys()].map(alike))
  return [
    ...[...theirs].flatMap(([id, severity]) => {
      const own = known.get(alike(id))
      return own === severity ? [] : [own === undefined ? `+ ${id} (${severity})` : `~ ${id}: ${severity}, here ${own}`]
    }),
    ...[...known.keys()].filter((id) => families.has(id.replace(/\d.*$/, '')) && !named.has(id)).map((id) => `- ${id}`)
  ].sort()
}

if (import.meta.main) {
  const [, , folder = '.'] = process.argv
  const artefacts = JSON.parse(await readFile(join(import.meta.dirname, 'artefacts.json'), 'utf8')) as Artefact[]
  for (const { name, version, source, file, profile, syntax } of artefacts) {
    console.log(`${name} ${version} (${source})`)
    if (file === undefined || profile === undefined || syntax === undefined) continue
    const path = join(folder, basename(source), file)
    if (!existsSync(path)) {
      console.log(`  not here: ${path}`)
      continue
    }
    for (const line of differences(rulesIn(await readFile(path, 'utf8')), knownRules(profile, syntax))) console.log(`  ${line}`)
  }
}
