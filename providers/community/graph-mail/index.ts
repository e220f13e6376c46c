import { AllowedSenders, allowedSendersInFrench, appCredentials, type Context, defineProvider, draftFirst, type Http, inFrench,
  type ServiceContracts, Type } from '@dispatch/core/provider'

type Request = ServiceContracts['email']['dispatch']
type Call = Context<object, object>

const api = 'https://graph.microsoft.com/v1.0/me/messages'
const oauth2 = { grant: 'authorization_code' } as const
// An id that stays the same where a message moves from the drafts to what was sent.
const immutable = { prefer: 'IdType="ImmutableId"' }
const Message = Type.Object({ id: Type.String({ minLength: 1 }), isDraft: Type.Boolean() })

export default defineProvider({
  code: 'graph-mail',
  name: 'Microsoft 365 mail',
  docs: 'https://learn.microsoft.com/en-us/graph/api/user-post-messages',
  hosts: ['graph.microsoft.com', 'login.microsoftonline.com'],
  settings: Type.Object({
    ...appCredentials('Microsoft'),
    tenant: Type.String({
      title: 'Tenant',
      ...inFrench('Annuaire (tenant)', 'son identifiant dans Microsoft Entra, ou « common » pour tous les comptes'),
      description: 'its id in Microsoft Entra, or "common" for all accounts',
      pattern: '^([0-9a-f-]{36}|common|organizations|consumers)$',
      examples: ['common']
    }),
    allowedSenders: AllowedSenders(allowedSendersInFrench)
  }),
  connect: {
    authorizationUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize',
    tokenUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token',
    scope: 'offline_access Mail.ReadWrite Mail.Send',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    clientAuth: 'body'
  },
  errors: {
    at: '/error/code',
    message: '/error/message',
    map: {
      InvalidAuthenticationToken: 'authentication_error',
      ErrorAccessDenied: 'authentication_error',
      ErrorInvalidRecipients: 'provider_error',
      ErrorSendAsDenied: 'provider_error',
      ErrorMimeContentInvalidBase64String: 'provider_error',
      MailboxNotEnabledForRESTAPI: 'provider_error'
    }
  },
  services: {
    email: {
      // A request of Graph has 4 MB, and the message is written in base64.
      maxSize: 3_000_000,
      maxReplyTo: 10,
      idempotency: { kind: 'lookup', visibleAfter: 60 },

      // https://learn.microsoft.com/en-us/graph/outlook-send-mime-message: sendMail tells no id, so a draft comes first.
      ...draftFirst({
        async prepare ({ email, inline, attachments }: Request, { http, documents, reference, now, onRefusal }: Call) {
          const base64 = await documents.compose({ ...email, id: reference, date: now().toISOString(), inline, attachments })
          const { id } = await http.post(api, { oauth2, headers: { ...immutable, 'content-type': 'text/plain' }, base64 }, Message)
          onRefusal((http) => withdraw(id, http))
          return id
        },
        async find (draft, { http }: Call) {
          const { id, isDraft } = await http.get(`${api}/${encodeURIComponent(draft)}`, {
            oauth2,
            headers: immutable,
            query: { $select: 'id,isDraft' }
          }, Message)
          return isDraft ? { found: 'draft' } : { found: 'accepted', response: { id, status: 'sent' } }
        },
        async issue (id, _, { http }: Call) {
          await http.post(`${api}/${encodeURIComponent(id)}/send`, { oauth2, headers: immutable }, Type.Null())
          return { id, status: 'sent' }
        },
        withdraw: (id, _request, _call, http) => withdraw(id, http)
      })
    }
  }
})

function withdraw (id: string, http: Http): Promise<unknown> {
  return http.delete(`${api}/${encodeURIComponent(id)}`, { oauth2, headers: immutable }, Type.Unknown())
}
