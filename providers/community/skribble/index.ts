import { type Context, defineProvider, given, type HttpCall, inFrench, refused, Secret, type ServiceContracts, signingOf, type Static,
  Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  username: Type.String({
    title: 'API user',
    ...inFrench('Utilisateur de l’API', 'commence par api_ ; par api_demo pour un environnement de test'),
    description: 'begins with api_, and with api_demo for a sandbox',
    pattern: '^api_\\w{3,100}$'
  }),
  apiKey: Secret({
    title: 'API key',
    ...inFrench('Clé d’API', 'celle de cet utilisateur'),
    description: 'that of this user',
    pattern: '^[\\w-]{16,}$'
  }),
  region: Type.Optional(Type.Union([
    Type.Literal('com', { title: 'Switzerland and the world', ...inFrench('Suisse et monde') }),
    Type.Literal('de', { title: 'Germany and the European Union', ...inFrench('Allemagne et Union européenne') })
  ], {
    title: 'Region',
    ...inFrench('Région', 'où est le compte ; la Suisse par défaut'),
    description: 'where the account is; Switzerland unless set'
  })),
  legislation: Type.Optional(Type.Union([
    Type.Literal('ZERTES', { title: 'ZertES (Switzerland)', ...inFrench('SCSE (Suisse)') }),
    Type.Literal('EIDAS', { title: 'eIDAS (European Union)', ...inFrench('eIDAS (Union européenne)') })
  ], {
    title: 'Legislation',
    ...inFrench('Droit', 'celui des signatures avancées et qualifiées ; la SCSE par défaut'),
    description: 'that of advanced and qualified signatures; ZertES unless set'
  }))
})
type Call = Context<Static<typeof Settings>, unknown>
type Request = ServiceContracts['esign']['dispatch']

const Id = Type.String({ minLength: 1 })
const Made = Type.Object({ id: Id, status_overall: Id })
const State = Type.Object({ status_overall: Id, document_id: Id })

const qualities = { SIMPLE: 'SES', ADVANCED: 'AES', QUALIFIED: 'QES' } as const
const locales = ['en', 'de', 'fr']
/** Seconds: Skribble's tokens live a little longer. */
const lifetime = 600

export default defineProvider({
  code: 'skribble',
  name: 'Skribble',
  docs: 'https://api-doc.skribble.com',
  hosts: ['api.skribble.com', 'api.skribble.de'],
  sandbox: { kind: 'configuration', key: { setting: 'username', test: '^api_demo' } },
  settings: Settings,
  errors: { message: ['/message', '/error'] },
  check: (call) => call.http.get(...ask(call, 'signature-requests', { query: { page_size: 1 } }), Type.Array(Type.Object({ id: Id }))),
  services: {
    esign: {
      signatureTypes: ['SIMPLE', 'ADVANCED', 'QUALIFIED'],
      locales,
      usesPhoneNumber: true,
      ignores: [
        { at: ['/esign/expiresInDays'], because: 'Requests at Skribble do not expire.' },
        { at: ['/signatures'], because: 'Signers place their signature at Skribble.' }
      ],
      // A request is found by its title, which signers read.
      idempotency: { kind: 'none' },
      statuses: { OPEN: 'started', SIGNED: 'completed', DECLINED: 'declined', WITHDRAWN: 'cancelled', ERROR: 'failed' },

      async dispatch (request, call) {
        const { id, status_overall: status } = await call.http.post(...ask(call, 'signature-requests', { json: requestOf(request, call) }),
          Made)
        return { id, status }
      },

      status: async ({ id }, call) => ({ status: (await read(id, call)).status_overall }),

      async document ({ id }, call) {
        const { status_overall: status, document_id: signed } = await read(id, call)
        if (status !== 'SIGNED') throw refused('not_completed', `Not everybody has signed: the request is ${status}.`)
        const [url, request] = ask(call, `documents/${encodeURIComponent(signed)}/content`)
        return await call.http.download(url, { ...request, filename: `${id}.pdf` })
      },

      async cancel ({ id }, call) {
        await call.http.post(...ask(call, `signature-requests/${encodeURIComponent(id)}/withdraw`, { json: {} }), Type.Unknown())
        return { status: 'WITHDRAWN' }
      }
    }
  }
})

function ask ({ settings }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  const { username, apiKey, region = 'com' } = settings
  const api = `https://api.skribble.${region}/v2`
  const session = { url: `${api}/access/login`, json: { username, 'api-key': apiKey }, token: '', lifetime, scheme: 'Bearer' }
  return [`${api}/${path}`, { session, ...more }]
}

async function read (id: string, call: Call): Promise<Static<typeof State>> {
  return await call.http.get(...ask(call, `signature-requests/${encodeURIComponent(id)}`), State)
}

/** With a demo key Skribble chooses the quality: such a signature has no effect in law. */
function requestOf (request: Request, { settings: { legislation = 'ZERTES' }, sandbox, reference }: Call) {
  const { esign: { signatureType, locale: language }, document } = request
  return {
    title: document.filename,
    content: document,
    custom: reference,
    ...(!sandbox && { quality: qualities[signatureType], ...(signatureType !== 'SIMPLE' && { legislation }) }),
    signatures: signingOf(request).map(({ signer: { email, firstName, lastName, phoneNumber }, turn: sequence }) => ({
      account_email: email,
      signer_identity_data: given({
        email_address: email,
        first_name: firstName,
        last_name: lastName,
        mobile_number: phoneNumber,
        language
      }),
      sequence
    }))
  }
}
