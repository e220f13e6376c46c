import { defineProvider, given, inFrench, refused, Secret, Type } from '@dispatch/core/provider'

const api = 'https://api.pipedrive.com/v1'

const Said = { success: Type.Boolean(), error: Type.Optional(Type.String()) }
const Stored = Type.Object({ ...Said, data: Type.Optional(Type.Object({ id: Type.Integer({ minimum: 1 }) })) })
const number = { minimum: 1, maximum: 2_147_483_647 }

export default defineProvider({
  code: 'pipedrive',
  name: 'Pipedrive',
  docs: 'https://developers.pipedrive.com/docs/api/v1/Files#addFile',
  hosts: ['api.pipedrive.com'],
  settings: Type.Object({
    apiToken: Secret({
      title: 'API token',
      ...inFrench('Jeton d’API', 'celui d’un utilisateur : Préférences personnelles, API'),
      description: 'that of a user: Personal preferences, API',
      pattern: '^\\w{32,}$'
    })
  }),
  requestSettings: Type.Object({
    dealId: Type.Optional(Type.Integer({ title: 'Deal', ...inFrench('Affaire', 'son numéro'), description: 'its number', ...number })),
    personId: Type.Optional(Type.Integer({ title: 'Person', ...inFrench('Personne', 'son numéro'), description: 'its number', ...number })),
    organizationId: Type.Optional(Type.Integer({
      title: 'Organization',
      ...inFrench('Organisation', 'son numéro'),
      description: 'its number',
      ...number
    })),
    leadId: Type.Optional(Type.String({
      title: 'Lead',
      ...inFrench('Prospect', 'son identifiant'),
      description: 'its id',
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    }))
  }),
  errors: { at: '/errorCode', message: ['/error', '/error_info'], map: { 401: 'authentication_error', 403: 'authentication_error' } },
  check: ({ settings, http }) => http.get(`${api}/users/me`, signedIn(settings), Type.Object({ success: Type.Literal(true) })),
  services: {
    upload: {
      // Pipedrive finds nothing by our reference.
      idempotency: { kind: 'none' },

      async dispatch ({ document }, { settings, requestSettings: { dealId, personId, organizationId, leadId }, http }) {
        const { success, error, data } = await http.post(`${api}/files`, {
          ...signedIn(settings),
          multipart: {
            file: document,
            ...given({
              deal_id: dealId?.toString(),
              person_id: personId?.toString(),
              org_id: organizationId?.toString(),
              lead_id: leadId
            })
          }
        }, Stored)
        if (!success || data === undefined) throw refused('not_stored', error ?? 'Pipedrive has not taken the file.')
        return { id: String(data.id), status: 'stored', size: document.size, sha256: document.sha256 }
      }
    }
  }
})

function signedIn ({ apiToken }: { apiToken: string }) {
  return { apiKey: { header: 'x-api-token', value: apiToken } }
}
