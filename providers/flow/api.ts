import { type Accepted, type DocumentHandle, type Found, type HttpCall, type JsonObject, refused, shortened, type Static,
  Type } from '@dispatch/core/provider'
import type { Call } from './settings.ts'

const Detail = Type.Object({
  level: Type.Optional(Type.String()),
  item: Type.Optional(Type.String()),
  reasonCode: Type.Optional(Type.String()),
  reasonMessage: Type.Optional(Type.String())
})

/** The platform's state of a received file: `Pending`, `Ok` or `Error`. */
const Acknowledgement = Type.Object({ status: Type.String({ minLength: 1 }), details: Type.Optional(Type.Array(Detail)) })
type Acknowledgement = Static<typeof Acknowledgement>

/** An answer with an error in it has received nothing, and nothing is called by zeros. */
const Received = Type.Object({ flowId: Type.String({ pattern: '[^0-]' }), errorCode: Type.Optional(Type.Null()) })
const Flow = Type.Object({ flowId: Type.String({ minLength: 1 }), acknowledgement: Type.Optional(Acknowledgement) })
const Flows = Type.Object({ results: Type.Array(Flow) })
type Flow = Static<typeof Flow>

const pending: Acknowledgement = { status: 'Pending' }
const failed = 'Error'

/**
 * The words of an acknowledgement, as delivery statuses. What has passed the checks of the platform is on its way; whether the customer
 * accepts it, the life cycle tells.
 */
export const acknowledged = { Pending: 'received', Ok: 'received', [failed]: 'rejected' } as const

type Asking = Pick<Call, 'settings' | 'sandbox' | 'reference'>

/** The address and the sign-in of a call; `path` is added to the address of the service. */
export function ask (call: Asking, path: string, body: HttpCall = {}): [url: string, call: HttpCall] {
  const { settings, sandbox } = call
  const { url } = sandbox ? testEnvironment(settings) : settings
  return askAt(call, `${url}/v1/${path}`, body)
}

/** The sign-in of a call of one of the platform's services. */
export function askAt ({ settings, sandbox, reference }: Asking, url: string, body: HttpCall = {}): [url: string, call: HttpCall] {
  const { clientId, clientSecret, organizationId, version = '1.2', tokenSignIn = 'body' } = settings
  const { tokenUrl } = sandbox ? testEnvironment(settings) : settings
  const headers = {
    [version === '1.1' ? 'X-Request-Id' : 'Request-Id']: reference,
    ...(organizationId !== undefined && { 'Organization-Id': organizationId })
  }
  return [
    url,
    {
      oauth2: {
        grant: 'client_credentials',
        tokenUrl,
        clientId,
        clientSecret,
        ...(tokenSignIn === 'body' && { clientAuth: 'body' as const })
      },
      headers,
      ...body
    }
  ]
}

/** The most characters of a file's name. */
const longestName = 255

type File = DocumentHandle | { text: string, contentType: string, filename: string }

/** Hands a file to the platform under our reference. Received (202) is not accepted: a later acknowledgement tells. */
export async function submit (
  call: Call,
  { name, ...info }: { flowSyntax: string, name: string } & JsonObject,
  file: File
): Promise<string> {
  const { version = '1.2' } = call.settings
  const flowInfo = { ...info, trackingId: call.reference, ...(version !== '1.1' && { name: shortened(name, longestName) }) }
  const { flowId } = await call.http.post(...ask(call, 'flows', { multipart: { flowInfo: { json: flowInfo }, file } }), Received)
  return flowId
}

function testEnvironment ({ sandboxUrl, sandboxTokenUrl, tokenUrl }: Call['settings']): { url: string, tokenUrl: string } {
  if (sandboxUrl === undefined) {
    throw refused('no_sandbox',
      'The configuration has no address of a test environment: set "sandboxUrl", or nothing is sent in a sandbox.')
  }
  return { url: sandboxUrl, tokenUrl: sandboxTokenUrl ?? tokenUrl }
}

/** A flow that the platform has got, as it is now. */
export async function read (id: string, call: Call): Promise<Accepted> {
  return answer(await call.http.get(...ask(call, `flows/${encodeURIComponent(id)}`, { query: { docType: 'Metadata' } }), Flow))
}

/** The flow with our reference. */
export async function find (trackingId: string, call: Call): Promise<Found> {
  const { results } = await call.http.post(...ask(call, 'flows/search', { json: { limit: 100, where: { trackingId } } }), Flows)
  return foundAmong(results)
}

/** The visible facts of a flow: the word of its acknowledgement and further fields. */
export function answer ({ flowId: id, acknowledgement: { status, details = [] } = pending }: Flow): Accepted {
  return { id, status, ...(details.length > 0 && { details }) }
}

/**
 * The platform's flow with our reference. The platform permits a second file with the same reference. Of several, the one that it did not
 * reject counts.
 */
function foundAmong (flows: readonly Flow[]): Found {
  const [flow] = flows.toSorted((one, other) => Number(isRefused(one)) - Number(isRefused(other)))
  if (flow === undefined) return { found: 'absent' }
  if (!isRefused(flow)) return { found: 'accepted', response: answer(flow) }
  const { reasonCode = failed, reasonMessage = 'The platform has turned the file away.' } = flow.acknowledgement?.details?.[0] ?? {}
  return { found: 'rejected', code: shortened(reasonCode, 100), message: shortened(reasonMessage, 1000) }
}

function isRefused ({ acknowledgement }: Flow): boolean {
  return acknowledgement?.status === failed
}
