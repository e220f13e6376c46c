import { buildCatalog, catalogFile, makeKeys, signCatalog } from '@dispatch/marketplace'
import { sql } from 'kysely'
import { execFile } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { packProvider } from '../../../../../scripts/provider/pack.ts'
import { directory } from '../../../../../test/fixtures/providers/folders.ts'
import { adapted } from '../../../../../test/fixtures/strangers/fixtures.ts'
import { chainBody } from '../../../../../test/support/chains.ts'
import { has, matches } from '../../../../../test/support/matching.ts'
import { offerInstalled, startNpmRegistry } from '../../../../../test/support/npm-registry.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, operator, startService } from '../../../../../test/support/service.ts'
import type { ReceivedRequest } from '../../../conformance/vendor/requests.ts'
import { createVendor, type VendorReply } from '../../../conformance/vendor/vendor.ts'
import { createNetwork } from '../../../vendor-io/network.ts'

// Four adapters as strangers write them, at most 90 lines each with its webhook: from "npm init" and "npm publish" to a revocation.

const root = fileURLToPath(new URL('../../../../..', import.meta.url))
const longest = 90
/** Dispatches in a second beside which versions are switched: `DISPATCHES_A_SECOND=50`. Without it, one waits for the one before. */
const rate = Number(process.env['DISPATCHES_A_SECOND'] ?? 0)

/** What a company configures, and what is dispatched. */
const strangers = {
  'mailgun': {
    service: 'email',
    settings: { apiKey: 'key-5f2b8c91d04e7a63', domain: 'mg.example.com', region: 'eu', allowedSenders: ['@example.com'] },
    request: (template: unknown) => ({
      ...{ from: 'demo@example.com', to: ['ada@example.com'], subject: 'Your document' },
      template
    })
  },
  'dropbox-sign': {
    service: 'esign',
    settings: { apiKey: 'fake_key_5f2b8c91d04e7a63b0c2' },
    request: (template: unknown) => chainBody(['esign'], template)
  },
  'quickbooks': {
    service: 'invoicing',
    settings: {
      clientId: 'ABfake0123456789',
      clientSecret: 'not-a-real-client-secret',
      itemId: '1',
      taxCodes: [{ percent: 20, code: '6' }]
    },
    request: (template: unknown) => chainBody(['invoicing'], template, { invoicing: { customerId: '7' } })
  },
  'pingen': {
    service: 'postal',
    settings: {
      clientId: 'fake_client_5f2b8c91',
      clientSecret: 'fake_secret_c81d4e2fa6b09357',
      organisation: '2017973a-6403-444d-af05-eb4b2b7f5e2f',
      addressPosition: 'left'
    },
    request: (template: unknown) => chainBody(['postal'], template)
  }
} as const
type Code = keyof typeof strangers
const codes = Object.keys(strangers) as Code[]

const registry = await startNpmRegistry(t)
const platform = `${process.platform}-${process.arch}`
offerInstalled(registry, 'esbuild', `@esbuild/${platform}`, '@typescript/native', `@typescript/typescript-${platform}`)
const desk = await directory(t)
await writeFile(join(desk, '.npmrc'), `registry=${registry.url}\n${registry.url.slice('http:'.length)}:_authToken=secret\n`)

/** A program in the folder of a stranger. tap gives its loaders to every child process; the compiler does not run under them. */
async function run (cwd: string, program: string, ...given: string[]): Promise<string> {
  const env = { ...process.env, INIT_CWD: undefined, npm_config_cache: join(desk, '.npm'), npm_config_userconfig: join(desk, '.npmrc') }
  const { stdout } = await promisify(execFile)('sh', ['-c', 'NODE_OPTIONS= exec "$0" "$@"', program, ...given], { cwd, env })
  return stdout
}

/** The repository of an adapter, as "npm init" begins it. */
async function begin (code: Code): Promise<void> {
  await run(desk, 'npm', 'init', '--yes', 'dispatch-provider', '--', code, '--service', strangers[code].service)
  const folder = join(desk, code)
  await cp(join(root, `test/fixtures/strangers/${code}.ts`), join(folder, 'index.ts'))
  await rm(join(folder, 'fixtures'), { recursive: true })
  await mkdir(join(folder, 'fixtures'))
  const shown = join(root, `providers/community/${code}/fixtures`)
  for (const name of await readdir(shown)) {
    const fixture = adapted(code, name, JSON.parse(await readFile(join(shown, name), 'utf8')))
    if (fixture !== undefined) await writeFile(join(folder, 'fixtures', name), JSON.stringify(fixture))
  }
  await change(join(folder, 'package.json'), '"private": true', '"publisher": "A stranger"')
}

async function change (path: string, from: string, to: string): Promise<void> {
  await writeFile(path, (await readFile(path, 'utf8')).replace(from, to))
}

await t.test('four adapters of at most 90 lines pass their kit in repositories of their own, and are published by npm', async (t) => {
  await run(desk, process.execPath, join(root, 'scripts/provider.ts'), 'tools', '--out', desk)
  const [created = ''] = (await readdir(desk)).filter((name) => name.startsWith('create-'))
  await run(desk, 'npm', 'publish', `./${created}`)
  for (const [index, code] of codes.entries()) {
    const lines = (await readFile(join(root, `test/fixtures/strangers/${code}.ts`), 'utf8')).trimEnd().split('\n').length
    t.ok(lines <= longest, `${code} has ${lines} lines`)
    await begin(code)
    const folder = join(desk, code)
    const [first = code] = codes
    if (index === 0) await run(folder, 'npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund')
    else await run(desk, 'cp', '-al', `${first}/node_modules`, `${code}/node_modules`)
    const said = await run(folder, 'npm', 'run', 'release', '--', `--registry=${registry.url}`)
    matches(t, said, /the kit passed \d{2,} cases/, code)
    // The next version has nothing new.
    await change(join(folder, 'package.json'), '"version": "1.0.0"', '"version": "1.1.0"')
    const { path } = await packProvider(folder, { out: desk, unchecked: true, typed: true })
    await run(desk, 'npm', 'publish', path, '--registry', registry.url)
  }
})

/** The four vendors. */
let made = 0
function answerOf ({ host, method, path, json, form }: ReceivedRequest): VendorReply {
  const id = String(++made)
  const letter = (status: string): VendorReply => ({ json: { data: { id, attributes: { status } } } })
  switch (host) {
    case 'api.eu.mailgun.net':
      return { json: { id: `<${id}@mg.example.com>`, message: 'Queued. Thank you.' } }
    case 'api.hellosign.com':
      return {
        json: { signature_request: { signature_request_id: id, is_complete: false, is_declined: false, has_error: false, signatures: [] } }
      }
    case 'oauth.platform.intuit.com':
    case 'identity.pingen.com':
      return {
        json: { access_token: `token-${form?.['grant_type'] ?? ''}`, refresh_token: 'refresh', token_type: 'Bearer', expires_in: 3600 }
      }
    case 'quickbooks.api.intuit.com': {
      const { DocNumber } = json as { DocNumber: string }
      return { json: { Invoice: { Id: id, SyncToken: '0', DocNumber, TotalAmt: 1080, Balance: 1080 } } }
    }
    case 'api.pingen.com':
      if (path === '/file-upload') {
        return { json: { data: { attributes: { url: `https://up.s3.amazonaws.com/${id}`, url_signature: 'sig' } } } }
      }
      return letter(method === 'GET' ? 'valid' : path.endsWith('/send') ? 'submitted' : 'validating')
    default:
      return {}
  }
}

await t.test('they are installed, upgraded, rolled back and revoked beside dispatches of which none fails', async (t) => {
  const vendor = await createVendor()
  vendor.answer(answerOf)
  const network = createNetwork({
    ca: [vendor.ca],
    loopback: 'allowed',
    route: (host, port) => host === '127.0.0.1' ? { host, port } : vendor.route(host, port)
  })
  const [catalog, key, { privateKey, publicKey }] = [join(desk, 'catalog'), join(desk, 'key.json'), await makeKeys()]
  await mkdir(catalog)
  await writeFile(key, JSON.stringify(publicKey))
  const service = await startService(t, {
    config: { catalogs: [{ address: catalog, keyFiles: [key] }], prices: { invoicing: 0 }, publicUrl: 'https://dispatch.example.com' },
    replacements: { network, renderer: quickRenderer }
  })
  t.teardown(async () => {
    await network.close()
    await vendor.close()
  })
  const market = (method: string, path: string, body?: unknown): Promise<Answer> =>
    service.send(method, `/api/v1/marketplace${path}`, body === undefined ? {} : { body }, operator)
  const configure = (code: Code): Promise<Answer> =>
    service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: strangers[code].settings } })
  const consents = new Map<Code, unknown>()

  for (const code of codes) {
    for (const version of ['1.0.0', '1.1.0']) {
      const npm = `npm:dispatch-provider-${code}@${version}`
      has(t, await market('POST', '/packages', { npm, registry: registry.url }), { status: 201, body: { code } })
    }
    const { body: { hosts } } = await market('GET', `/${code}`)
    const consent = { hosts, services: [strangers[code].service] }
    consents.set(code, consent)
    has(t, await market('POST', `/${code}/install`, { version: '1.0.0', consent }), { status: 200, body: { version: '1.0.0' } })
    has(t, await configure(code), { status: 200 })
  }
  const connect = '/api/v1/company/providers/quickbooks/connect'
  const { body: { url } } = await service.send('GET', connect)
  const begun = new URL(String(url)).searchParams.get('state') ?? ''
  const query = new URLSearchParams({ code: 'code-1', state: begun, realmId: '9130347596842384' })
  const page = String((await service.send('GET', `/api/connect/quickbooks/callback?${String(query)}`, {}, null)).body)
  const confirmation = /"confirmation": "([\w-]{43})"/.exec(page)?.[1] ?? ''
  has(t, await service.send('POST', connect, { body: { confirmation } }), { status: 200 })

  const answers: Promise<Answer>[] = []
  const dispatch = (code: Code): Promise<Answer> => {
    const body = { ...strangers[code].request(invoiceRequest()['template']), providerName: code }
    const answer = service.send('POST', `/api/${strangers[code].service}`, { body })
    answers.push(answer)
    return answer
  }
  const dispatchToAll = (): Promise<Answer[]> => Promise.all(codes.map(dispatch))
  /** Does it with each adapter, and sends one more dispatch to each. */
  const each = async (what: (code: Code) => Promise<Answer>): Promise<void> => {
    for (const code of codes) has(t, await what(code), { status: 200 }, code)
    await dispatchToAll()
  }
  const upgrade = (code: Code): Promise<Answer> => market('POST', `/${code}/upgrade`, { version: '1.1.0', consent: consents.get(code) })
  async function revoke (): Promise<void> {
    const packages = codes.map((code) => ({
      place: `${code}.tgz`,
      bytes: registry.tarballs.get(`/dispatch-provider-${code}/-/dispatch-provider-${code}-1.1.0.tgz`) ?? Buffer.alloc(0)
    }))
    const revoked = codes.map((code) => ({ code, versions: '1.1.0', reason: 'It is tried.', at: new Date().toISOString() }))
    const payload = await buildCatalog(packages, { now: new Date(), days: 90, revoked })
    await writeFile(join(catalog, catalogFile), await signCatalog(payload, privateKey))
    has(t, await market('POST', '/refresh'), { status: 200 })
    await dispatchToAll()
  }
  async function switches (): Promise<void> {
    await each(upgrade)
    await each((code) => market('POST', `/${code}/rollback`))
    await each(upgrade)
    await revoke()
  }
  await dispatchToAll()
  const state = { open: true }
  const switched = switches().finally(() => {
    state.open = false
  })
  // A busy machine switches late: the dispatches go on for as long as that takes, and one second's of them wait at most.
  for (let nth = 0; state.open; nth++) {
    const answer = dispatch(codes[nth % codes.length] ?? 'mailgun')
    await (rate === 0 ? answer : Promise.all([pause(1000 / rate), answers.at(-rate)]))
  }
  await switched
  const failed = (await Promise.all(answers)).filter(({ status }) => status !== 200).map(({ status, body }) => [status, body])
  t.same(failed, [], `of ${answers.length}`)
  for (const code of codes) {
    has(t, await market('GET', `/${code}`), { body: { version: '1.1.0', state: 'revoked' } })
  }
  const { rows } = await sql<{ code: Code, versions: string[] }>`
    select provider_code as code, array_agg(distinct provider_version order by provider_version) as versions from steps
    where provider_code = any(${codes}) group by provider_code order by provider_code`.execute(service.app.get('database').owner)
  t.same(rows, codes.toSorted().map((code) => ({ code, versions: ['1.0.0', '1.1.0'] })), 'both versions of each were given dispatches')
})
