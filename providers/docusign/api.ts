import { type Accepted, at, type CheckContext, type Context, failureOf, type Found, type Http, type HttpCall, type Json, refused,
  type Static, Type } from '@dispatch/core/provider'
import type { Settings } from './settings.ts'

export type Call = Context<Settings, object>

/** Docusign's demo environment. Signatures there are not binding. */
const demo = 'demo.docusign.net'

/** Refuses a real dispatch in the demo environment. */
export function checkEnvironment ({ sandbox, baseHost }: { sandbox: boolean, baseHost?: string | undefined }): void {
  if (!sandbox && baseHost === demo) {
    throw refused('wrong_environment', 'What is signed in the demo system binds nobody: only a sandbox configuration may use it.')
  }
}

/** A request for the envelopes, or for `part` of the envelope with `id`. */
export function envelopes (call: Call, id?: string, part = ''): [string, HttpCall] {
  return account(call, `envelopes${id === undefined ? '' : `/${encodeURIComponent(id)}${part}`}`)
}

type Known = Pick<Call, 'settings' | 'sandbox'>

/** Docusign's own authentication service. */
function audienceOf ({ sandbox }: Pick<Call, 'sandbox'>): string {
  return sandbox ? 'account-d.docusign.com' : 'account.docusign.com'
}

const UserInfo = Type.Object({ accounts: Type.Array(Type.Object({ account_id: Type.String() })) })

/** Whether the user of the settings has consented, and belongs to the account. */
export async function check (call: CheckContext<Settings>): Promise<void> {
  const [, signedIn] = account(call, '')
  const { accounts } = await call.http.get(`https://${audienceOf(call)}/oauth/userinfo`, signedIn, UserInfo)
  const { accountId } = call.settings
  if (accounts.some(({ account_id: id }) => id === accountId)) return
  throw refused('no_account', `The user does not belong to the account ${accountId}.`)
}

/** A request of the account, signed in as the user of the settings. In a sandbox, it is sent to Docusign's demo environment only. */
function account ({ settings, sandbox }: Known, path: string): [string, HttpCall] {
  const { baseHost, accountId, integrationKey, userId, privateKey } = settings
  checkEnvironment({ sandbox, baseHost })
  const audience = audienceOf({ sandbox })
  return [
    `https://${sandbox ? demo : baseHost}/restapi/v2.1/accounts/${accountId}/${path}`,
    {
      oauth2: {
        grant: 'jwt_bearer',
        tokenUrl: `https://${audience}/oauth/token`,
        assertion: {
          algorithm: 'RS256',
          key: privateKey,
          issuer: integrationKey,
          subject: userId,
          audience,
          claims: { scope: 'signature impersonation' }
        }
      }
    }
  ]
}

const Workflows = Type.Object({
  identityVerification: Type.Array(Type.Object({ workflowId: Type.String(), defaultName: Type.Optional(Type.String()) }))
})

/** The id of the account's phone authentication. Docusign refuses an envelope with one that the account does not have. */
export async function phoneWorkflow (call: Call): Promise<string> {
  const { identityVerification: workflows } = await call.http.get(...account(call, 'identity_verification'), Workflows)
  const found = workflows.find(({ defaultName }) => defaultName === 'Phone Authentication')
  if (found !== undefined) return found.workflowId
  throw refused('no_phone_authentication',
    'The account at Docusign has no phone authentication: have Docusign turn it on, or turn the setting "phoneAuthentication" off.')
}

export const Envelope = Type.Object({ envelopeId: Type.String(), status: Type.String() })
const Envelopes = Type.Object({ envelopes: Type.Optional(Type.Array(Envelope)) })
const draftStatus = 'created'

/** Any answer of Docusign to a change. */
export const Changed = Type.Unsafe<Json>({})

/** Docusign may answer with success although it did not change one of the parts. The error is then in that part of the answer. */
export function checkDone (changed: Json, ...parts: readonly string[]): void {
  for (const part of ['', ...parts]) {
    const [code, message] = [at(changed, `${part}/errorDetails/errorCode`), at(changed, `${part}/errorDetails/message`)]
    if (typeof code === 'string' && code !== 'SUCCESS') throw refused(code, typeof message === 'string' ? message : code)
  }
}

/** Changes the status of an envelope. */
export async function change (id: string, envelope: { status: string, voidedReason?: string }, call: Call): Promise<Accepted> {
  const [url, signedIn] = envelopes(call, id)
  checkDone(await call.http.put(url, { ...signedIn, json: envelope }, Changed))
  return { id, status: envelope.status }
}

/** Deletes a draft. Nobody has been told of it. */
export async function withdraw (draft: string, call: Call, http: Http): Promise<void> {
  const [url, signedIn] = account(call, 'folders/recyclebin')
  await http.put(url, { ...signedIn, json: { envelopeIds: [draft] } }, Changed)
}

/** The state of a draft. */
export async function find (draft: string, call: Call): Promise<Found> {
  try {
    return foundOf(await call.http.get(...envelopes(call, draft), Envelope))
  } catch (error) {
    if (failureOf(error)?.code === 'ENVELOPE_DOES_NOT_EXIST') return { found: 'absent' }
    throw error
  }
}

/** The sent envelope with our key, which Docusign finds for seven days. A draft without a record is ignored. */
export async function findTransaction (call: Call): Promise<Found> {
  const [url, signedIn] = envelopes(call)
  const { envelopes: found = [] } = await call.http.get(url, { ...signedIn, query: { transaction_ids: call.idempotencyKey } }, Envelopes)
  const sent = found.find(({ status }) => status !== draftStatus)
  return sent === undefined ? { found: 'absent' } : foundOf(sent)
}

function foundOf ({ envelopeId: id, status }: Static<typeof Envelope>): Found {
  return status === draftStatus ? { found: 'draft' } : { found: 'accepted', response: { id, status } }
}
