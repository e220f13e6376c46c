import { sql } from 'kysely'
import { constants, createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { createVendor, type Vendor, vendorNetwork } from '../../../core/packages/conformance/vendor/vendor.ts'
import type { InboundState } from '../../../core/packages/tables/schema.ts'
import { openDispatch } from '../../../core/store/dispatch/dispatches.ts'
import { beginAttempt, settleStep } from '../../../core/store/dispatch/steps.ts'
import type { Config } from '../../../plugins/config/config.ts'
import type { Replacements } from '../../../plugins/container.ts'
import { directory, provide } from '../../fixtures/providers/folders.ts'
import { startService, type TestService } from '../../support/service.ts'

/** A public key as a JWK. */
export type PublicJwk = { kty: 'RSA', n: string, e: string, kid: string, alg: 'PS256', use: 'sig' }

/** A key of a vendor, and its signatures. */
export type VendorKey = { kid: string, jwk: PublicJwk, sign: (body: string | Buffer, header?: object) => string }

/** A detached compact JWS by hand, so that a test may put anything into its header. */
export function vendorKey (kid: string): VendorKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const { n = '', e = '' } = publicKey.export({ format: 'jwk' })
  return {
    kid,
    jwk: { kty: 'RSA', n, e, kid, alg: 'PS256', use: 'sig' },
    sign: (body, header = {}) => jws({ alg: 'PS256', kid, ...header }, body, (input) => pss(privateKey, input))
  }
}

export function jws (header: object, body: string | Buffer, signature: (input: string) => Buffer): string {
  const head = Buffer.from(JSON.stringify(header)).toString('base64url')
  return `${head}..${signature(`${head}.${Buffer.from(body).toString('base64url')}`).toString('base64url')}`
}

function pss (key: KeyObject, input: string): Buffer {
  return sign('sha256', Buffer.from(input), {
    key: createPrivateKey(key.export({ format: 'pem', type: 'pkcs8' })),
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: 32
  })
}

export const hmac = (secret: string, body: string, time?: string): string =>
  createHmac('sha256', secret).update(time === undefined ? body : `${time}.${body}`).digest('hex')

/** One provider that has each kind of verifier, on its own services. */
const source = (code: string, webhooks: string, more = '') =>
  `import { AllowedSenders, defineProvider, Secret, Type } from '@dispatch/core/provider'
const Event = Type.Object({ id: Type.Optional(Type.String()), transaction: Type.String(), type: Type.String() })
const waited = new Set()
const read = ({ id, transaction, type, wait, ...rest }) => {
  if (wait !== undefined && !waited.has(wait)) return waited.add(wait) && new Promise(() => undefined)
  return { ...(id === undefined ? {} : { eventId: id }), remoteId: transaction, type, ...rest }
}
const events = { started: 'started', viewed: 'viewed', signed: 'signed', done: 'completed', refused: 'declined' }
const letters = { accepted: 'accepted', printed: 'printed', posted: 'mailed', there: 'delivered', back: 'returned' }
const dispatch = async () => ({ id: '1', status: 'sent' })
const idempotency = { kind: 'none' }
const sign = { signatureTypes: ['SIMPLE'], idempotency, dispatch }
const post = { mailTypes: ['SIMPLE'], idempotency, dispatch }
export default defineProvider({
  code: '${code}', name: '${code}', hosts: ['api.vendor.example'],
  settings: Type.Object({ hookUser: Type.Optional(Type.String()), hookPassword: Type.Optional(Secret()), hookSecret: Type.Optional(Secret()) }),
  ${more}
  webhooks: { ${webhooks} }
})
`

const reported = (statuses: string): string =>
  `{ idempotency, dispatch, statuses: ${statuses}, poll: { after: 3600, every: 3600, until: 86400 },
    async status ({ id }, { http }) { return http.get('https://api.vendor.example/status/' + id, {}, Type.Object({ status: Type.String() })) } }`

const status =
  `async status ({ id }, { http }) { return http.get('https://api.vendor.example/status/' + id, {}, Type.Object({ status: Type.String() })) },
    statuses: { open: 'started', finished: 'completed' }, poll: { after: 3600, every: 21600, until: 864000 }`

export const jwksUrl = 'https://keys.vendor.example/jwks.json'
const trialKeys = 'https://keys.trial.example/trial-jwks.json'

const signedBy = (jwks: string, sandbox?: boolean): string =>
  `{ kind: 'jws', header: 'x-jws-signature', algorithm: 'PS256', jwks: ` +
  `'${jwks}'${sandbox === undefined ? '' : `, sandbox: ${String(sandbox)}`} }`

const providers: Record<string, string> = {
  'seal-one': source('seal-one', `esign: { verify: ${signedBy(jwksUrl)}, body: Event, read, events, acknowledge: { received: true } }`,
    `services: { esign: { ...sign, ${status} } },`),
  'seal-two': source('seal-two',
    `esign: { verify: [${signedBy(jwksUrl, false)}, ${signedBy(trialKeys, true)}], body: Event, read, events }`,
    'sandbox: { kind: \'configuration\' }, services: { esign: sign },'),
  'bill-one': source('bill-one', '',
    `services: { invoicing: { documentTypes: ['E_INVOICE'], idempotency, dispatch, statuses: { Pending: 'received', Ok: 'accepted', Error: 'rejected' }, poll: { after: 60, every: 600, until: 86400 },
    async status ({ id }, { http }) { return http.get('https://api.vendor.example/status/' + id, {}, Type.Unsafe({ type: 'object' })) } } },`),
  'post-one': source('post-one',
    'postal: { verify: { kind: \'basic\', user: \'hookUser\', password: \'hookPassword\' }, body: Event, read, events: letters, ' +
      'acknowledge: \'OK\' }', 'services: { postal: post },'),
  'mac-one': source('mac-one',
    'postal: { verify: { kind: \'hmac\', header: \'x-mac-*\', algorithm: \'sha256\', encoding: \'hex\', prefix: \'sha256=\', ' +
      'secret: \'hookSecret\', timestamp: { header: \'x-mac-time\' } }, body: Event, read, events: letters }',
    'services: { postal: post },'),
  'ask-two': source('ask-two', 'esign: { verify: { kind: \'basic\' }, body: Event, read, events, confirm: [\'refused\'] }',
    `services: { esign: { ...sign, async status ({ id }, { http }) {
      return http.get('https://api.vendor.example/status/' + id, {}, Type.Unsafe({ type: 'object' })) },
      statuses: { open: 'started', finished: 'completed', refused: 'declined', lapsed: 'expired' } } },`),
  'form-one': source('form-one',
    `postal: { form: 'form', verify: { kind: 'signature', signed: ['address', { named: 'sorted' }], at: { header: 'x-sig' },
      algorithm: 'hmac-sha1', encoding: 'base64', key: { secret: 'hookSecret' } }, body: Event, read, events: letters }`,
    'services: { postal: post },'),
  'many-one': source('many-one',
    `esign: { verify: { kind: 'secret', at: { header: 'x-secret' }, secret: 'hookSecret' }, body: Type.Array(Event),
      read: (list) => list.map(read), events }`, 'services: { esign: sign },'),
  'hint-one': source('hint-one', 'esign: { verify: { kind: \'hint\' }, body: Event, read, events, confirm: true }',
    `services: { esign: { ...sign, ${status} } },`),
  'mail-one': source('mail-one',
    'email: { verify: { kind: \'hint\' }, body: Event, read, events: { there: \'delivered\' }, confirm: true }',
    `services: { email: ${reported('{ sent: \'delivered\', back: \'bounced\' }')}, upload: ${
      reported('{ busy: \'processing\', kept: \'available\', gone: \'deleted\' }')
    } },
    settings: Type.Object({ allowedSenders: AllowedSenders() }),`),
  'query-one': source('query-one',
    `postal: { form: 'query', verify: { kind: 'signature', signed: ['address'], at: { query: 'sig' }, algorithm: 'hmac-sha256',
      encoding: 'hex', key: { secret: 'hookSecret' } }, body: Event, read, events: letters }`, 'services: { postal: post },'),
  'shake-one': source('shake-one',
    `esign: { verify: { kind: 'hmac', header: 'x-mac', algorithm: 'sha256', encoding: 'hex', secret: 'hookSecret' }, body: Event, read, events,
      handshakes: [
        { method: 'GET', echo: { query: 'challenge' } },
        { method: 'GET', echo: { header: 'x-client-id' }, as: { header: 'X-Client-Id' } },
        { when: { at: { body: '/type' }, is: 'url_verification' }, echo: { body: '/challenge' }, as: { member: 'challenge' } },
        { when: { at: { body: '/entropy' } }, proof: true },
        { when: { at: { body: '/type' }, is: 'confirm' }, visit: '/url', hosts: ['hooks.vendor.example'] },
        { method: 'POST', echo: { header: 'x-client-id' }, as: { member: 'clientId' }, event: true }
      ] }`, 'services: { esign: sign },'),
  'ask-one': source('ask-one', 'esign: { verify: { kind: \'basic\' }, body: Event, read, events, confirm: true }',
    `services: { esign: { ...sign, ${status} } },`)
}

export const serverAuth = 'hook-user:hook-password'

export type HookService = TestService & {
  vendor: Vendor
  companyId: number
  /** Posts an event and answers what came back; a body that is no text is sent as JSON. */
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<{ status: number, text: string, type: string | null }>
  /** Records a step of the company that its provider accepted under this id. */
  accepted: (step: {
    provider: string
    service: 'esign' | 'postal' | 'invoicing' | 'email' | 'upload'
    remoteId: string
    companyId?: number
    userId?: number
    configuredBy?: 'user' | 'company'
    sandbox?: boolean
    at?: Date
  }) => Promise<{ dispatchId: string, stepId: string }>
  /** How the step of a dispatch stands, and what its timeline says of it. */
  delivery: (dispatchId: string) => Promise<{ status: string | null, events: { kind: string, actor: any, facts: any }[] }>
  /** All events that are kept. */
  inbound: () => Promise<
    { inbound_id: string, state: InboundState, note: string | null, parked: unknown, body: Buffer, company_id: number | null }[]
  >
  configure: (
    code: string,
    settings: object,
    scope?: 'company' | 'my',
    login?: { email: string, password: string },
    sandbox?: boolean
  ) => Promise<string>
}

/** A service with those providers, a vendor behind every host name, and server-wide credentials for two of them. */
export async function hookService (
  t: Test,
  { config = {}, replacements = {}, databaseUrl }: {
    config?: Partial<Config>
    replacements?: Replacements
    databaseUrl?: string
  } = {}
): Promise<HookService> {
  const folder = await directory(t)
  for (const [name, text] of Object.entries(providers)) await provide(folder, name, { 'index.js': text })
  const vendor = await createVendor()
  t.teardown(vendor.close)
  const service = await startService(t, {
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
    config: { providerDirectories: [folder], webhookAuth: { POST_ONE: serverAuth, ASK_ONE: serverAuth, ASK_TWO: serverAuth }, ...config },
    replacements: { network: vendorNetwork(vendor), ...replacements }
  })
  const database = service.app.get('database')
  const { company_id: companyId, user_id: userId } = await database.owner.selectFrom('users').select(['company_id', 'user_id']).where(
    'email',
    '=',
    'demo@example.com'
  ).executeTakeFirstOrThrow()
  return {
    ...service,
    vendor,
    companyId,
    async post (path, body, headers = {}) {
      const response = await fetch(`${service.url}/api/webhooks/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? body as string : JSON.stringify(body)
      })
      return { status: response.status, text: await response.text(), type: response.headers.get('content-type') }
    },
    async accepted ({
      provider,
      service: name,
      remoteId,
      companyId: company = companyId,
      userId: user = userId,
      configuredBy = 'company',
      sandbox = false,
      at
    }) {
      const then = at === undefined ? database : { ...database, now: sql<Date>`${at}::timestamptz` }
      const [dispatchId, stepId, runId] = [randomUUID(), randomUUID(), randomUUID()]
      await openDispatch(then, {
        dispatchId,
        companyId: company,
        actor: { kind: 'user', userId: user },
        requestId: 'r',
        services: [name],
        metadata: {},
        steps: [{
          stepId,
          service: name,
          by: { code: provider, version: '1.0.0', chosenBy: 'request', configuredBy, sandbox },
          fields: {},
          requestSettings: {},
          template: { template: { id: 1, version: 1 }, data: {} },
          price: 0
        }]
      }, { lease: { runId, seconds: 15 } })
      await beginAttempt(then, { companyId: company, dispatchId, stepId, runId, provider: { code: provider, version: '1.0.0' } })
      await settleStep(then, { companyId: company, dispatchId, stepId, runId, actor: { kind: 'system' } }, {
        outcome: 'accepted',
        response: { id: remoteId, status: 'sent' }
      }, { status: 'succeeded' })
      return { dispatchId, stepId }
    },
    async delivery (dispatchId) {
      const step = await database.owner.selectFrom('steps').select('delivery_status').where('dispatch_id', '=', dispatchId)
        .executeTakeFirstOrThrow()
      const events = await database.owner.selectFrom('events').select(['kind', 'actor', 'facts']).where('dispatch_id', '=', dispatchId)
        .where('kind', 'in', ['webhook', 'polled']).orderBy('event_id').execute()
      return { status: step.delivery_status, events }
    },
    inbound: () =>
      database.owner.selectFrom('inbound').select(['inbound_id', 'state', 'note', 'parked', 'body', 'company_id']).orderBy('received_at')
        .execute(),
    async configure (code, settings, scope = 'company', login, sandbox = false) {
      const answer = await service.send('PUT', `/api/v1/${scope}/providers/${code}`, { body: { settings, sandbox } }, login)
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return URL.parse(String(answer.body.webhookUrl))?.search ?? ''
    }
  }
}

/** Waits until something is so; fails after so many seconds, before a sweep helps with what a job should have done. */
export async function until (what: string, is: () => Promise<boolean> | boolean, seconds = 50): Promise<void> {
  const end = Date.now() + seconds * 1000
  while (!await is()) {
    if (Date.now() > end) throw new Error(`Not within ${seconds} seconds: ${what}.`)
    await pause(20)
  }
}

export const paths = {
  seal: 'esign/providers/seal-one/endpoint.json',
  post: 'postal/providers/post-one/endpoint.json',
  mac: 'postal/providers/mac-one/endpoint.json',
  ask: 'esign/providers/ask-one/endpoint.json',
  askSome: 'esign/providers/ask-two/endpoint.json',
  twice: 'esign/providers/seal-two/endpoint.json'
}

export const basic = (credentials: string) => ({ authorization: `Basic ${Buffer.from(credentials).toString('base64')}` })
