import { compile, errorMessageOf } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import { waitForReloads } from '@dispatch/core'
import { buildingInWords } from '@dispatch/marketplace'
import type { CommandTools, FeatureCommand } from '@dispatch/plugins/feature'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type AdapterDetail, type AdapterEffects, type AdapterView, type CatalogView, MarketplaceQuery,
  type RequestedChange } from './contract/marketplace.ts'
import { createAdapters } from './service/adapters.ts'
import { createCatalogs } from './service/catalogs.ts'
import { createMarketplace, type Marketplace } from './service/marketplace.ts'
import { smoke } from './service/smoke.ts'
import { detailOf, effectsView, viewsOf } from './service/views.ts'

const options = {
  version: { type: 'string' },
  registry: { type: 'string' },
  publisher: { type: 'string' },
  hosts: { type: 'string', default: '' },
  services: { type: 'string', default: '' },
  service: { type: 'string' },
  'document-type': { type: 'string' },
  country: { type: 'string' },
  feature: { type: 'string' },
  language: { type: 'string' },
  state: { type: 'string' },
  cursor: { type: 'string' },
  force: { type: 'boolean', multiple: true },
  json: { type: 'boolean', default: false }
} as const

/** `force`: as often as it is given. */
type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values']

/** Adapters that a list has at most: `--cursor` goes on after the last one. */
const maxListed = 100

/** The operator at the command line sees everything. */
const reader = { companyId: 0, isOperator: true }

/** What the words of the command line do; each answers what is shown. */
const verbs: Readonly<Record<string, (marketplace: Marketplace, args: readonly string[], values: Values) => Promise<Shown>>> = {
  async list (marketplace, args, values) {
    return viewsOf(await marketplace.list(), reader, queryOf(args, values))
  },
  refresh: (marketplace) => marketplace.refresh(stamp()),
  show: (marketplace, args) => shown(marketplace, codeIn(args)),
  async add (marketplace, [what = ''], values) {
    if (what === '') throw new Error('It is "add <file>", with a package that was packed, or "add npm:<name>@<version>".')
    const { publisher } = values
    const { code } = isNpm(what)
      ? await added(marketplace, what, values)
      : await marketplace.add(await readFile(resolve(process.env['INIT_CWD'] ?? '', what)), { publisher }, stamp())
    return shown(marketplace, code)
  },
  async install (marketplace, args, values) {
    const { code, version } = await desired(marketplace, args, values)
    return changed(marketplace, [code], () => marketplace.install(code, { version, consent: consentOf(values) }, stamp()))
  },
  async upgrade (marketplace, args, values) {
    const { code, version } = await desired(marketplace, args, values)
    if (version === undefined) throw new Error('It is "upgrade <code> --version <version>".')
    const requested = { version, consent: consentOf(values), force: isForced(values) }
    await tellForced(marketplace, code, { change: 'upgrade', version }, values)
    return changed(marketplace, [code], () => marketplace.upgrade(code, requested, stamp()))
  },
  async rollback (marketplace, args, values) {
    await tellForced(marketplace, codeIn(args), { change: 'rollback', version: values.version }, values)
    const requested = { version: values.version, force: isForced(values) }
    return changed(marketplace, args, (code) => marketplace.rollBack(code, requested, stamp()))
  },
  async effects (marketplace, [code = '', ...change], values) {
    return weighed(marketplace, codeIn([code]), askedIn(change, values))
  },
  enable: (marketplace, args) => changed(marketplace, args, (code) => marketplace.enable(code, stamp())),
  disable: (marketplace, args) => changed(marketplace, args, (code) => marketplace.disable(code, stamp())),
  async offer (marketplace, [code = '', ...words], values) {
    const companies = companiesIn(words)
    await tellForced(marketplace, code, { change: 'offer', companies }, values)
    return changed(marketplace, [code], () => marketplace.offer(code, { companies, force: isForced(values) }, stamp()))
  },
  async remove (marketplace, args) {
    await marketplace.remove(codeIn(args), stamp())
    return []
  }
}

function isNpm (what: string | undefined): what is string {
  return what?.startsWith('npm:') === true
}

/** Takes in a package of a registry of npm. */
function added (marketplace: Marketplace, npm: string, { registry, publisher }: Values): Promise<{ code: string, version: string }> {
  return marketplace.addFromRegistry({ npm, registry, publisher }, stamp())
}

/** The adapter and the version that are to be installed: of what is here or in a catalog, or of a registry of npm. */
async function desired (
  marketplace: Marketplace,
  args: readonly string[],
  values: Values
): Promise<{ code: string, version: string | undefined }> {
  const code = codeIn(args)
  return isNpm(code) ? await added(marketplace, code, values) : { code, version: values.version }
}

type Shown = AdapterView[] | CatalogView[] | AdapterDetail | AdapterEffects

/** Adapters, whether the service runs or not: running processes follow within a second. */
export const command: FeatureCommand = {
  summary: 'marketplace list|refresh|show|add|install|upgrade|rollback|effects|enable|disable|offer|remove …   adapters',
  read (args) {
    const { values, positionals: [word = '', ...rest] } = parseArgs({ args: [...args], options, allowPositionals: true })
    const verb = Object.hasOwn(verbs, word) ? verbs[word] : undefined
    if (verb === undefined) throw new Error(usage)
    return async (tools) => {
      try {
        const found = await verb(await open(tools), rest, values)
        // Beside what is asked for: JSON stays JSON.
        for (const sentence of await buildingInWords(tools.catalogLocations.map(({ address }) => address))) console.error(sentence)
        console.log(values.json ? JSON.stringify(found, null, 2) : [found].flat().map(lineOf).join('\n'))
      } catch (error) {
        if (!values.json || !(error instanceof DispatchError)) throw error
        const { word: code, message, details = [] } = error
        console.log(JSON.stringify({ error: code, message, details }, null, 2))
        process.exitCode = 1
      }
    }
  }
}

const usage = `It is one of:
  npm run marketplace -- list [words]                        adapters that are here or in a catalog
      [--service <s>] [--document-type <t>] [--country <CC>] [--feature <f>] [--language <l>] [--state <state>] [--cursor <code>]
  npm run marketplace -- refresh                             reads the catalogs again
  npm run marketplace -- show <code>                         its versions, manifest and form
  npm run marketplace -- add <file>|npm:<name>@<version>     takes in a package
      [--registry <https://…>] [--publisher <whose it is>]
  npm run marketplace -- install <code> [--version <v>] --hosts <a,b> --services <c,d>
  npm run marketplace -- install npm:<name>@<version> [--registry <https://…>] --hosts <a,b> --services <c,d>
  npm run marketplace -- upgrade <code> --version <v>|npm:<name>@<version> [--hosts <a,b>] [--services <c,d>] [--force]
  npm run marketplace -- enable|disable|remove <code>
  npm run marketplace -- rollback <code> [--version <v>] [--force]   the version before, or an older one
  npm run marketplace -- effects <code> upgrade|rollback --version <v>, disable, revocation, or offer <company> …
                                                             whom it would touch, and how; nothing is changed
  npm run marketplace -- offer <code> all|<company> … [--force]
Each takes --json. Where nobody can tell whom a forced change would stop, it takes --force twice.`

async function open ({ catalogLocations: locations, config, database, keyring, log, network: { transport }, now, sandbox }:
  CommandTools): Promise<Marketplace>
{
  const { files, sweep, unlock } = createAdapters({ folder: join(config.dataDirectory, 'adapters'), database, sandbox: sandbox.open, log })
  await sweep()
  // Running processes follow by themselves, within a second.
  const follow = async (): Promise<void> => {
    await unlock()
    await waitForReloads(database)
  }
  const catalogs = createCatalogs({ database, locations, transport, now })
  return createMarketplace({ database, keyring, log, files, sandbox: sandbox.open, follow, catalogs, smoke })
}

async function changed (marketplace: Marketplace, args: readonly string[], change: (code: string) => Promise<void>): Promise<Shown> {
  const code = codeIn(args)
  await change(code)
  return shown(marketplace, code)
}

async function weighed (marketplace: Marketplace, code: string, requested: RequestedChange): Promise<AdapterEffects> {
  return effectsView(await marketplace.effects(code, requested, new Date()), requested)
}

function isForced ({ force = [] }: Values): boolean {
  return force.length > 0
}

/** What a change itself answers with, forced or not. */
const refusals: readonly string[] = ['not_found', 'conflict', 'consent_required']

/**
 * Before a change that is forced, beside what is asked for: whom it stops. Where that cannot be told, it must be forced twice. Throws an
 * Error then.
 */
async function tellForced (marketplace: Marketplace, code: string, requested: RequestedChange, { force = [] }: Values): Promise<void> {
  if (force.length === 0) return
  try {
    const { effects } = await weighed(marketplace, code, requested)
    for (const effect of effects) if (effect.how === 'stopped') console.error(effectLine(effect))
  } catch (error) {
    if (error instanceof DispatchError && refusals.includes(error.word)) return
    const untold = `Whom it would stop cannot be told: ${errorMessageOf(error)}`
    if (force.length < 2) throw new Error(`${untold} Nothing was changed. Twice --force changes it nevertheless.`, { cause: error })
    console.error(untold)
  }
}

async function shown (marketplace: Marketplace, code: string): Promise<Shown> {
  const known = await marketplace.find(code)
  return detailOf(known, reader, await marketplace.lookAround(known, new Date())) ?? []
}

const checkQuery = compile(MarketplaceQuery)

/** What a list is asked for, by the rules of the API. */
function queryOf (
  words: readonly string[],
  { service, country, feature, language, state, cursor, 'document-type': documentType }: Values
): MarketplaceQuery {
  const given = Object.entries({ q: words.join(' '), service, documentType, country, feature, language, state, cursor })
  const fit = checkQuery({ ...Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== '')), limit: maxListed })
  if (fit.ok) return fit.value
  throw new Error(fit.problems.map(({ path, message }) => `${path.slice(1)}: ${message}`).join('\n'))
}

function codeIn ([code, ...rest]: readonly string[]): string {
  if (code === undefined || rest.length > 0) throw new Error(usage)
  return code
}

function companiesIn (words: readonly string[]): number[] | null {
  if (words.length === 1 && words[0] === 'all') return null
  const ids = words.map(Number)
  if (ids.length === 0 || !ids.every((id) => Number.isSafeInteger(id) && id > 0)) {
    throw new Error('It is "offer <code> all", or the ids of companies in place of "all".')
  }
  return ids
}

/** Reads which change is to be weighed from the words of the command. */
function askedIn ([change = '', ...companies]: readonly string[], { version }: Values): RequestedChange {
  if (change === 'offer') return { change, companies: companiesIn(companies) }
  if (companies.length > 0) throw new Error(usage)
  if (change === 'rollback' || (change === 'upgrade' && version !== undefined)) return { change, version }
  if (change === 'disable' || change === 'revocation') return { change }
  throw new Error(usage)
}

function consentOf ({ hosts, services }: Values): { hosts: string[], services: string[] } {
  const listOf = (text: string): string[] => text.split(',').map((part) => part.trim()).filter((part) => part !== '')
  return { hosts: listOf(hosts), services: listOf(services) }
}

function stamp (): { author: null, at: Date } {
  return { author: null, at: new Date() }
}

function lineOf (shown: AdapterView | CatalogView | AdapterEffects): string {
  return 'effects' in shown ? effectLines(shown) : 'code' in shown ? adapterLine(shown) : catalogLine(shown)
}

function effectLines ({ effects, refused }: AdapterEffects): string {
  const stops = effects.some(({ how }) => how === 'stopped')
  const end = refused ? ['It is refused without --force.'] : stops ? [] : ['It stops nobody.']
  return [...effects.map(effectLine), ...end].join('\n')
}

function effectLine ({ companyId, company, userId, how, version }: AdapterEffects['effects'][number]): string {
  const whose = userId === undefined ? '' : `, user ${userId}`
  return `company "${company}" (${companyId})${whose}: ${effectWords[how]}${version === undefined ? '' : ` (${version})`}`
}

const effectWords = {
  goes_on: 'goes on with its settings',
  migrated: 'the newer version makes its settings',
  restored: 'goes on with the settings that were saved for the version',
  kept: 'the older version goes on with its settings',
  stopped: 'could not dispatch any more'
} as const satisfies Record<AdapterEffects['effects'][number]['how'], string>

function catalogLine ({ address, serial, adapters, problem, revoked = [] }: CatalogView): string {
  const read = problem === undefined ? `${address}: catalog ${serial}, ${adapters} adapters` : `${address} was not read: ${problem.message}`
  return [read, ...revoked.map(({ message }) => message)].join('\n')
}

function adapterLine ({ code, version, state, enabled, services, hosts }: AdapterView): string {
  const words = [state, ...enabled === false ? ['disabled'] : []]
  return `${code} ${version} (${words.join(', ')}): ${Object.keys(services).join(', ')}; reaches ${hosts.join(', ') || 'no fixed host'}`
}
