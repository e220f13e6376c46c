/**
 * Compares the ids and severities of our rules with those of the artefacts that they follow (artefacts.json). The artefacts are not here:
 *
 *     git clone https://github.com/ConnectingEurope/eInvoicing-EN16931 /tmp/artefacts/eInvoicing-EN16931
 *     git clone https://github.com/OpenPEPPOL/peppol-bis-invoice-3 /tmp/artefacts/peppol-bis-invoice-3
 *     git clone https://github.com/itplr-kosit/xrechnung-schematron /tmp/artefacts/xrechnung-schematron
 *     unzip -d /tmp/artefacts <the rules of fnfe-mpe.org>.zip && mv /tmp/artefacts/*_FNFE_* /tmp/artefacts/br-fr
 *     node core/packages/einvoice/compare.ts /tmp/artefacts
 *
 * False refusals: write data that a rule refuses all the same (`eInvoiceOf` of `write/write.ts` asks no rule), and give the file to the
 * validator that comes with the artefacts. What it accepts, we refuse wrongly.
 */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { knownRules, type Severity } from './known-rules.ts'
import type { EInvoiceProfile } from './model/profiles.ts'

/**
 * An artefact; one without a file has no schematron that is open to all. `folder`: where it is, unless its source is named so. `absent`:
 * its rules that are not here, each with the reason.
 */
type Artefact = {
  name: string
  version: string
  source: string
  folder?: string
  file?: string
  profile?: EInvoiceProfile
  syntax?: 'UBL' | 'CII'
  absent?: Readonly<Record<string, string>>
}

/** The rules of a schematron by their ids. */
export function rulesIn (schematron: string): Map<string, Severity> {
  const asserts = schematron.replaceAll(/<!--[^]*?-->/g, '').matchAll(/<(?:assert|report)\b((?:[^>"']|"[^"]*"|'[^']*')*)>/g)
  return new Map([...asserts].flatMap(([, attributes = '']): [string, Severity][] => {
    const [, id] = /\bid=["']([^"']+)["']/.exec(attributes) ?? []
    return id === undefined ? [] : [[id, /\bflag=["'](warning|information)["']/.test(attributes) ? 'warning' : 'fatal']]
  }))
}

/**
 * Names of EN 16931 for categories whose rules have other names in some artefacts; and of rules of French platforms without the term that
 * each of their parts is about (BR-FR-05_BT-22).
 */
const alike = (id: string): string =>
  id.replace(/^BR-IG-/, 'BR-AF-').replace(/^BR-IP-/, 'BR-AG-').replace(/^(BR-FR(?:-[A-Z]+)*-(?:\d+|BD)).*$/, '$1')

/** What differs, a line for each rule. Rules of ours that other artefacts bring are not told, nor are those whose absence has a reason. */
export function differences (
  given: ReadonlyMap<string, Severity>,
  ours: ReadonlyMap<string, Severity>,
  absent: Readonly<Record<string, string>> = {}
): string[] {
  const theirs = new Map([...given].map(([id, severity]) => [id.startsWith('BR-FR') ? alike(id) : id, severity]))
  const families = new Set([...theirs.keys()].map((id) => id.replace(/\d.*$/, '')))
  const known = new Map([...ours].map(([id, severity]) => [alike(id), severity]))
  const named = new Set([...theirs.keys()].map(alike))
  return [
    ...[...theirs].flatMap(([id, severity]) => {
      const own = known.get(alike(id))
      if (own === undefined && Object.hasOwn(absent, id)) return []
      return own === severity ? [] : [own === undefined ? `+ ${id} (${severity})` : `~ ${id}: ${severity}, here ${own}`]
    }),
    ...Object.keys(absent).filter((id) => known.has(id)).map((id) => `= ${id}: here, and said to be absent`),
    ...[...known.keys()].filter((id) => families.has(id.replace(/\d.*$/, '')) && !named.has(id)).map((id) => `- ${id}`)
  ].sort()
}

if (import.meta.main) {
  const [, , folder = '.'] = process.argv
  const artefacts = JSON.parse(await readFile(join(import.meta.dirname, 'artefacts.json'), 'utf8')) as Artefact[]
  for (const { name, version, source, folder: own, file, profile, syntax, absent } of artefacts) {
    console.log(`${name} ${version} (${source})`)
    if (file === undefined || profile === undefined || syntax === undefined) continue
    const path = join(folder, own ?? basename(source), file)
    if (!existsSync(path)) {
      console.log(`  not here: ${path}`)
      continue
    }
    for (const line of differences(rulesIn(await readFile(path, 'utf8')), knownRules(profile, syntax), absent)) console.log(`  ${line}`)
  }
}
