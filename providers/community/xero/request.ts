import { type Context, type Http, type HttpCall, type JsonObject, refused, type Static, type Suggestion,
  Type } from '@dispatch/core/provider'
import type { Settings } from './settings.ts'

export type Call = Context<Settings, unknown>

const Connections = Type.Array(
  Type.Object({ tenantId: Type.String(), tenantType: Type.String(), tenantName: Type.Optional(Type.String()) })
)

const api = 'https://api.xero.com'
const oauth2 = { grant: 'authorization_code' } as const

/** A call of the provider, or its check. */
type Asking = { settings: Settings, http: Pick<Http, 'get'> }

/** A request for an organisation of the connection. */
export async function ask (call: Asking, path: string, { headers, ...more }: HttpCall = {}): Promise<[url: string, call: HttpCall]> {
  return [`${api}/api.xro/2.0/${path}`, { oauth2, headers: { 'xero-tenant-id': await tenantOf(call), ...headers }, ...more }]
}

/** The organisations of calls that had to ask. What a call takes back is done when its own `http` has ended. */
const tenants = new WeakMap<Asking, Promise<string>>()

/** The organisation of the settings, else the only one that the person has chosen at Xero. */
async function tenantOf (call: Asking): Promise<string> {
  const tenant = call.settings.tenantId ?? tenants.get(call) ?? onlyTenant(call)
  if (typeof tenant !== 'string') tenants.set(call, tenant)
  return await tenant
}

/** The organisations that the person has chosen at Xero. */
async function organisations ({ http }: Pick<Asking, 'http'>): Promise<Static<typeof Connections>> {
  const connections = await http.get(`${api}/connections`, { oauth2 }, Connections)
  return connections.filter(({ tenantType }) => tenantType === 'ORGANISATION')
}

export async function tenantSuggestions (call: Pick<Asking, 'http'>): Promise<Suggestion[]> {
  return (await organisations(call)).map(({ tenantId: value, tenantName: title }) => ({ value, ...title !== undefined && { title } }))
}

async function onlyTenant (call: Asking): Promise<string> {
  const [only, ...others] = await organisations(call)
  if (only !== undefined && others.length === 0) return only.tenantId
  throw refused('organisation_needed', only === undefined
    ? 'The connection has no organisation: connect it again, and choose one at Xero.'
    : `The connection has ${others.length + 1} organisations: set the tenant ID of one.`)
}

/** A request that changes something, with its own key: `step` distinguishes the requests of one dispatch. */
export async function send (
  call: Call,
  step: string,
  path: string,
  { query, json }: { query?: Record<string, string>, json: JsonObject }
): Promise<[url: string, call: HttpCall]> {
  return await ask(call, path, {
    query: { ...query, summarizeErrors: 'true' },
    headers: { 'idempotency-key': `${call.idempotencyKey}:${step}` },
    json
  })
}
