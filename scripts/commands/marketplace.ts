import { compile } from '@dispatch/common'
import { smoke } from '@dispatch/conformance/smoke'
import { type AdapterDetail, adapterDetailOf, type AdapterView, adapterViewsOf, type AuditStamp, type CatalogView, createCatalogs,
  createCompanyAccounts, createMarketplace, createNetwork, type Database, DispatchError, type Marketplace, MarketplaceQuery, openAdapters,
  platform, seedDemo, waitForReloads } from '@dispatch/core'
import { createLazySandbox } from '@dispatch/sandbox'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readCatalogPlaces } from '../../plugins/config/catalogs.ts'
import { type Config, readConfig } from '../../plugins/config/config.ts'
import { openKeyring } from '../../plugins/config/master-keys.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { openDataDirectory } from '../data-directory.ts'
import type { Command } from './command.ts'
import { isDemo, withDatabase } from './database.ts'

const options = {
  version: { type: 'string' },
  hosts: { type: 'string', default: '' },
  services: { type: 'string', default: '' },
  service: { type: 'string' },
  'document-type': { type: 'string' },
  country: { type: 'string' },
  state: { type: 'string' },
  cursor: { type: 'string' },
  force: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false }
} as const

type Values = { [Name in keyof typeof options as (typeof options)[Name] extends { default: unknown } ? never : Name]?: string } & {
  hosts: string
  services: string
  force: boolean
}

/** Adapters that a list has at most: `--cursor` goes on after the last one. */
const mostListed = 100

/** The operator at the command line sees everything. */
const reader = { companyId: 0, isOperator: true }

/** What the words of the command line do; each answers what is shown. */
const verbs: Readonly<Record<string, (marketplace: Marketplace, args: readonly string[], values: Values) => Promise<Shown>>> = {
  async list (marketplace, args, values) {
    return adapterViewsOf(await marketplace.list(), reader, queryOf(args, values))
  },
  refresh: (marketplace) => marketplace.refresh(stamp()),
  show: (marketplace, args) => shown(marketplace, codeIn(args)),
  async add (marketplace, [file = '']) {
    if (file === '') throw new Error('It is "add <file>", with a package that was packed.')
    const { code } = await marketplace.add(await readFile(resolve(process.env['INIT_CWD'] ?? '', file)), stamp())
    return shown(marketplace, code)
  },
  install: (marketplace, args, values) =>
    changed(marketplace, args, (code) => marketplace.install(code, { version: values.version, consent: consentOf(values) }, stamp())),
  upgrade (marketplace, args, values) {
    const { version } = values
    if (version === undefined) throw new Error('It is "upgrade <code> --version <version>".')
    return changed(marketplace, args, (code) => marketplace.upgrade(code, { version, consent: consentOf(values) }, stamp()))
  },
  rollback: (marketplace, args, values) => changed(marketplace, args, (code) => marketplace.rollBack(code, values, stamp())),
  enable: (marketplace, args) => changed(marketplace, args, (code) => marketplace.enable(code, stamp())),
  disable: (marketplace, args) => changed(marketplace, args, (code) => marketplace.disable(code, stamp())),
  offer: (marketplace, [code = '', ...companies], { force }) =>
    changed(marketplace, [code], () => marketplace.offer(code, { companies: companiesIn(companies), force }, stamp())),
  async remove (marketplace, args) {
    await marketplace.remove(codeIn(args), stamp())
    return []
  }
}

type Shown = AdapterView[] | CatalogView[] | AdapterDetail

/** Adapters, whether the service runs or not: running processes follow within a second. */
export const marketplace: Command = {
  summary:
    'marketplace list|refresh|show|add|install|upgrade|rollback|enable|disable|offer|remove …   adapters, also while the service is down',
  async run (args, env) {
    const { values, positionals: [word = '', ...rest] } = parseArgs({ args: [...args], options, allowPositionals: true })
    const verb = Object.hasOwn(verbs, word) ? verbs[word] : undefined
    if (verb === undefined) throw new Error(usage)
    try {
      const found = await withMarketplace(readConfig(env), (marketplace) => verb(marketplace, rest, values))
      console.log(values.json ? JSON.stringify(found, null, 2) : [found].flat().map(lineOf).join('\n'))
    } catch (error) {
      if (!values.json || !(error instanceof DispatchError)) throw error
      const { word: code, message, details = [] } = error
      console.log(JSON.stringify({ error: code, message, details }, null, 2))
      process.exitCode = 1
    }
  }
}

const usage = `It is one of:
  npm run marketplace -- list [words]                        adapters that are here or in a catalog
      [--service <s>] [--document-type <t>] [--country <CC>] [--state <state>] [--cursor <code>]
  npm run marketplace -- refresh                             reads the catalogs again
  npm run marketplace -- show <code>                         its versions, manifest and form
  npm run marketplace -- add <file>                          takes in a package
  npm run marketplace -- install <code> [--version <v>] --hosts <a,b> --services <c,d>
  npm run marketplace -- upgrade <code> --version <v> [--hosts <a,b>] [--services <c,d>]
  npm run marketplace -- enable|disable|remove <code>
  npm run marketplace -- rollback <code> [--force]           the version before, unless it would stop companies
  npm run marketplace -- offer <code> all|<company> … [--force]
Each takes --json.`

async function withMarketplace<Result> (config: Config, work: (marketplace: Marketplace) => Promise<Result>): Promise<Result> {
  openDataDirectory(config.dataDirectory)
  const log = createLogger('error', process.stderr)
  return await withDatabase(config, async (database) => {
    await requirePlatform(config, database)
    const network = createNetwork({ allow: config.allowedNetworks })
    const sandbox = createLazySandbox({ cache: join(config.dataDirectory, 'sandbox'), walls: config.sandboxWalls, log })
    try {
      const { files, unlock } = await openAdapters({ folder: join(config.dataDirectory, 'adapters'), database, sandbox: sandbox.open, log })
      // Running processes follow by themselves, within a second.
      const follow = async (): Promise<void> => {
        await unlock()
        await waitForReloads(database)
      }
      const catalogs = createCatalogs({
        database,
        places: await readCatalogPlaces(config),
        transport: network.transport,
        now: () => new Date()
      })
      const keyring = await openKeyring(config)
      return await work(
        createMarketplace({ database, keyring, log, files, sandbox: sandbox.open, follow, catalogs, smoke })
      )
    } finally {
      await Promise.all([sandbox.close(), network.close()])
    }
  })
}

/** What is changed stands in the audit log of the platform, which the first start or the first operator makes. */
async function requirePlatform (config: Config, database: Database): Promise<void> {
  if (isDemo(config)) await seedDemo(database, new Date())
  const { find } = createCompanyAccounts({ database, now: () => new Date() })
  if (await find(platform.companyId) === undefined) {
    throw new Error('The database is new: first make an operator with "npm run dispatch -- operator create --email <address>".')
  }
}

async function changed (marketplace: Marketplace, args: readonly string[], change: (code: string) => Promise<void>): Promise<Shown> {
  const code = codeIn(args)
  await change(code)
  return shown(marketplace, code)
}

async function shown (marketplace: Marketplace, code: string): Promise<Shown> {
  const known = await marketplace.find(code)
  return adapterDetailOf(known, reader, await marketplace.lookAround(known)) ?? []
}

const checkQuery = compile(MarketplaceQuery)

/** What a list is asked for, by the rules of the API. */
function queryOf (words: readonly string[], { service, country, state, cursor, 'document-type': documentType }: Values): MarketplaceQuery {
  const given = Object.entries({ q: words.join(' '), service, documentType, country, state, cursor })
  const fit = checkQuery({ ...Object.fromEntries(given.filter(([, value]) => value !== undefined && value !== '')), limit: mostListed })
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

function consentOf ({ hosts, services }: Values): { hosts: string[], services: string[] } {
  const listOf = (text: string): string[] => text.split(',').map((part) => part.trim()).filter((part) => part !== '')
  return { hosts: listOf(hosts), services: listOf(services) }
}

function stamp (): AuditStamp {
  return { author: null, at: new Date() }
}

function lineOf (shown: AdapterView | CatalogView): string {
  return 'code' in shown ? adapterLine(shown) : catalogLine(shown)
}

function catalogLine ({ address, serial, adapters, problem }: CatalogView): string {
  return problem === undefined ? `${address}: catalog ${serial}, ${adapters} adapters` : `${address} was not read: ${problem.message}`
}

function adapterLine ({ code, version, state, enabled, services, hosts }: AdapterView): string {
  const words = [state, ...enabled === false ? ['disabled'] : []]
  return `${code} ${version} (${words.join(', ')}): ${Object.keys(services).join(', ')}; reaches ${hosts.join(', ') || 'no fixed host'}`
}
