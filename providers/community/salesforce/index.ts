import { type Context, defineProvider, given, Host, type HttpCall, inFrench, plainFileName, refused, Secret, type Static,
  Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  domain: Host({
    title: 'My Domain',
    ...inFrench('Mon domaine', 'ce qui précède .my.salesforce.com ou .sandbox.my.salesforce.com dans l’adresse de votre organisation'),
    description: 'what stands before .my.salesforce.com or .sandbox.my.salesforce.com in the address of your org',
    pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
    examples: ['acme']
  }),
  clientId: Type.String({
    title: 'Consumer key',
    ...inFrench('Clé de consommateur', 'celle d’une application externe qui permet le flux « Client Credentials »'),
    description: 'that of an external client app with the client credentials flow',
    pattern: '^[\\w.]{20,300}$'
  }),
  clientSecret: Secret({
    title: 'Consumer secret',
    ...inFrench('Secret de consommateur', 'celui de la même application'),
    description: 'that of the same app',
    pattern: '^\\w{16,}$'
  })
})
const RequestSettings = Type.Object({
  recordId: Type.Optional(Type.String({
    title: 'Record',
    ...inFrench('Enregistrement', 'l’ID de celui auquel le fichier est joint'),
    description: 'the id of the one to which the file belongs',
    pattern: '^[A-Za-z0-9]{15}([A-Za-z0-9]{3})?$'
  }))
})
type Call = Pick<Context<Static<typeof Settings>, Static<typeof RequestSettings>>, 'settings' | 'sandbox'>

const Id = Type.String({ minLength: 15 })
const Made = Type.Object({ id: Type.Optional(Id), success: Type.Boolean() })
const Found = Type.Object({ records: Type.Array(Type.Object({ Id })) })

export default defineProvider({
  code: 'salesforce',
  name: 'Salesforce',
  docs: 'https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/dome_sobject_insert_update_blob.htm',
  hosts: ['{domain}.my.salesforce.com', '{domain}.sandbox.my.salesforce.com'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  requestSettings: RequestSettings,
  errors: {
    at: ['/0/errorCode', '/error'],
    message: ['/0/message', '/error_description'],
    map: {
      INVALID_SESSION_ID: 'authentication_error',
      API_DISABLED_FOR_ORG: 'authentication_error',
      INSUFFICIENT_ACCESS_OR_READONLY: 'provider_error',
      STORAGE_LIMIT_EXCEEDED: 'provider_error',
      REQUEST_LIMIT_EXCEEDED: 'provider_unavailable'
    }
  },
  check: (call) => call.http.get(...ask(call, 'limits'), Type.Object({})),
  services: {
    upload: {
      // A title can be asked for at once. A request that was cut off may run for its whole time limit.
      idempotency: { kind: 'lookup', visibleAfter: 60 },

      async dispatch ({ document }, call) {
        const title = titleOf(call.reference, document.filename)
        const { id, success } = await call.http.post(...ask(call, 'sobjects/ContentVersion', {
          multipart: {
            entity_content: {
              json: given({ Title: title, PathOnClient: title, FirstPublishLocationId: call.requestSettings.recordId })
            },
            VersionData: document
          }
        }), Made)
        if (!success || id === undefined) throw refused('not_stored', 'Salesforce has not taken the file.')
        return { ...stored(id), size: document.size, sha256: document.sha256 }
      },

      async lookup ({ reference }, call) {
        const query = { q: `SELECT Id FROM ContentVersion WHERE Title LIKE '${titleOf(reference, '%')}'` }
        const { records: [found] } = await call.http.get(...ask(call, 'query', { query }), Found)
        return found === undefined ? { found: 'absent' } : { found: 'accepted', response: stored(found.Id) }
      }
    }
  }
})

function ask ({ settings, sandbox }: Call, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  const { domain, clientId, clientSecret } = settings
  const org = `https://${domain}${sandbox ? '.sandbox' : ''}.my.salesforce.com/services`
  const oauth2 = { grant: 'client_credentials', tokenUrl: `${org}/oauth2/token`, clientId, clientSecret, clientAuth: 'body' } as const
  return [`${org}/data/v60.0/${path}`, { oauth2, ...more }]
}

/** Begins with our reference, by which it is found: a UUID, without a sign that means something in SOQL. */
function titleOf (reference: string, filename: string): string {
  return `${reference}-${plainFileName(filename)}`
}

function stored (id: string) {
  return { id, status: 'stored' }
}
