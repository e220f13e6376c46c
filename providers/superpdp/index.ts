import { type Context, defineProvider, type Found, type HttpCall, inFrench, refused, Secret, type Static, Type,
  unavailable } from '@dispatch/core/provider'

const Settings = Type.Object({
  clientId: Type.String({
    title: 'Client ID',
    ...inFrench('Identifiant client', 'celui de l’application OAuth de l’entreprise'),
    description: 'that of the OAuth application of the company',
    minLength: 1,
    maxLength: 200
  }),
  clientSecret: Secret({
    title: 'Client secret',
    ...inFrench('Secret client', 'le secret de l’application ; pour un environnement de test, d’une entreprise du bac à sable'),
    description: 'the secret of the application; for a sandbox that of a company in Super PDP\'s sandbox',
    pattern: '^\\S+$'
  })
})
type Call = Context<Static<typeof Settings>, unknown>

const Event = Type.Object({ id: Type.Optional(Type.Integer()), status_code: Type.String(), status_text: Type.Optional(Type.String()) })
/** An answer with an error in it has received nothing. */
const Invoice = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  error: Type.Optional(Type.Null()),
  external_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  events: Type.Optional(Type.Array(Event))
})
type Invoice = Static<typeof Invoice>
const Invoices = Type.Object({ data: Type.Array(Invoice), has_after: Type.Optional(Type.Boolean()) })

const Company = Type.Object({ formal_name: Type.String(), env: Type.Optional(Type.String()) })

/** The life cycle of the French reform (XP Z12-012) and Super PDP's own words. A word that is left out changes nothing. */
const statuses = {
  'api:uploaded': 'received',
  'api:validated': 'received',
  'api:sent': 'received',
  'api:received': 'received',
  'api:invalid': 'rejected',
  'api:rejected': 'rejected',
  'fr:200': 'received', // deposited
  'fr:201': 'received', // sent
  'fr:202': 'received', // received by the platform of the customer
  'fr:203': 'open', // made available to the customer
  'fr:204': 'open', // taken charge of
  'fr:205': 'open', // approved: it is still to be paid
  'fr:206': 'open', // partly approved
  'fr:210': 'rejected', // refused by the customer
  'fr:211': 'open', // payment sent
  'fr:212': 'paid',
  'fr:213': 'rejected', // by a platform
  'fr:501': 'rejected' // irrecevable
} as const
const rejections = Object.entries(statuses).flatMap(([word, meaning]) => meaning === 'rejected' ? [word] : [])

/** So many pages of 100 invoices are read to find one. */
const maxPages = 10

const minute = 60
const day = 24 * 60 * minute

export default defineProvider({
  code: 'superpdp',
  name: 'Super PDP',
  docs: 'https://www.superpdp.tech/documentation',
  hosts: ['api.superpdp.tech'],
  sandbox: { kind: 'configuration' },
  settings: Settings,
  errors: { at: '/error', message: ['/message', '/error_description'], map: { invalid_client: 'authentication_error' } },
  check: (call) => call.http.get(...ask(call, 'companies/me'), Company),
  services: {
    invoicing: {
      documentTypes: ['E_INVOICE'],
      eInvoiceFormats: ['FACTUR_X', 'UBL', 'CII'],
      eInvoiceRules: 'FRANCE',
      ignores: [{
        at: ['/invoicing/customerId', '/invoicing/reference'],
        because: 'The platform reads the e-invoice, which names its customer and its references itself.'
      }],
      idempotency: { kind: 'lookup', visibleAfter: 5 * minute },
      statuses,
      poll: { after: 5 * minute, every: 60 * minute, until: 60 * day },

      async dispatch ({ document }, call) {
        if (call.sandbox) await demandSandbox(call)
        return answer(await call.http.post(...ask(call, 'invoices', { query: { external_id: call.reference }, document }), Invoice))
      },

      lookup: ({ reference }, call) => find(reference, call),

      async status ({ id }, call) {
        return answer(await call.http.get(...ask(call, `invoices/${encodeURIComponent(id)}`, { query: { 'expand[]': 'events' } }), Invoice))
      }
    }
  }
})

function ask (
  { settings: { clientId, clientSecret } }: Pick<Call, 'settings'>,
  path: string,
  more: HttpCall = {}
): [url: string, call: HttpCall] {
  const tokenUrl = 'https://api.superpdp.tech/oauth2/token'
  return [`https://api.superpdp.tech/v1.beta/${path}`, {
    oauth2: { grant: 'client_credentials', tokenUrl, clientId, clientSecret },
    ...more
  }]
}

/** The sandbox has companies of its own on the same host: nothing may go out for another one. */
async function demandSandbox (call: Call): Promise<void> {
  const { formal_name: name, env } = await call.http.get(...ask(call, 'companies/me'), Company)
  if (env !== 'sandbox') throw refused('not_in_sandbox', `"${name}" is no company of the sandbox of Super PDP: nothing was sent.`)
}

/** The newest event that says something. */
function answer ({ id, events = [] }: Invoice) {
  const [last] = events.toSorted((one, other) => (other.id ?? 0) - (one.id ?? 0))
  const { status_code: status = 'api:uploaded', status_text: text } = last ?? {}
  return { id: String(id), status, ...(text !== undefined && rejections.includes(status) && { reason: text }) }
}

/** Our reference is not searchable: the newest invoices are read until it is among them. */
async function find (reference: string, call: Call): Promise<Found> {
  let after: number | undefined
  for (let page = 0; page < maxPages; page++) {
    const query = { direction: 'out', order: 'desc', limit: 100, ...(after !== undefined && { starting_after_id: after }) }
    const { data, has_after: more } = await call.http.get(...ask(call, 'invoices', { query }), Invoices)
    const found = data.find(({ external_id: external }) => external === reference)
    if (found !== undefined) return { found: 'accepted', response: answer(found) }
    after = data.at(-1)?.id
    if (more !== true || after === undefined) return { found: 'absent' }
  }
  throw unavailable('The invoice is not among the newest 1,000 of Super PDP: its outcome cannot be found out.')
}
