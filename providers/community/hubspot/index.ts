import { type Context, defineProvider, type DocumentHandle, type HttpCall, inFrench, plainFileName, Secret, type Static,
  Type } from '@dispatch/core/provider'

const Settings = Type.Object({
  accessToken: Secret({
    title: 'Access token',
    ...inFrench('Jeton d’accès', 'celui d’une application privée, qui commence par pat-'),
    description: 'that of a private app, which begins with pat-',
    pattern: '^pat-[\\w-]{16,}$'
  }),
  folder: Type.Optional(Type.String({
    title: 'Folder',
    ...inFrench('Dossier', 'où vont les fichiers, par exemple /Factures/2026 ; il est créé au besoin ; /Documents par défaut'),
    description: 'where files go, such as /Invoices/2026; it is made where it is missing; /Documents unless set',
    pattern: '^(/[\\w .-]{1,50}){1,5}$',
    examples: ['/Documents']
  }))
})
function record (title: string, french: string, [help, frenchHelp]: readonly [string, string]) {
  return Type.Optional(Type.String({ title, ...inFrench(french, frenchHelp), description: help, pattern: '^\\d{1,20}$' }))
}
const RequestSettings = Type.Object({
  contactId: record('Contact', 'Contact', ['the record ID of a contact, to which the file is tied',
    'l’ID d’un contact auquel le fichier est lié']),
  companyId: record('Company', 'Entreprise', ['the record ID of a company', 'l’ID d’une entreprise']),
  dealId: record('Deal', 'Transaction', ['the record ID of a deal', 'l’ID d’une transaction'])
})
type Call = Context<Static<typeof Settings>, Static<typeof RequestSettings>>

const Made = Type.Object({ id: Type.String({ minLength: 1 }) })
/** https://developers.hubspot.com/docs/api-reference/crm-associations-v4/guide: how a note is tied to a record. */
const noteTo = { contact: 202, company: 190, deal: 214 } as const

export default defineProvider({
  code: 'hubspot',
  name: 'HubSpot',
  docs: 'https://developers.hubspot.com/docs/api-reference/files-files-v3/guide',
  hosts: ['api.hubapi.com'],
  settings: Settings,
  requestSettings: RequestSettings,
  errors: {
    at: '/category',
    message: '/message',
    map: {
      INVALID_AUTHENTICATION: 'authentication_error',
      MISSING_SCOPES: 'authentication_error',
      VALIDATION_ERROR: 'provider_error',
      OBJECT_NOT_FOUND: 'provider_error'
    }
  },
  check: (call) =>
    call.http.get(...ask(call, 'files/v3/files/search', { query: { limit: 1 } }), Type.Object({ results: Type.Array(Made) })),
  services: {
    upload: {
      checkpoint: true,
      // Another dispatch of the same bytes may have the same file, so it is not deleted.
      draftsStay: true,
      idempotency: { kind: 'none' },

      async dispatch ({ document }, call) {
        const stored = (id: string) => ({ id, status: 'stored', size: document.size, sha256: document.sha256 })
        const associations = associationsOf(call.requestSettings)
        if (associations.length === 0) {
          await call.checkpoint('upload')
          return stored(await upload(document, call))
        }
        const id = call.checkpointed ?? await upload(document, call)
        await call.checkpoint(id)
        // A file belongs to a record by a note that has it attached.
        const properties = { hs_timestamp: call.now().toISOString(), hs_note_body: document.filename, hs_attachment_ids: id }
        const note = await call.http.post(...ask(call, 'crm/v3/objects/notes', { json: { properties, associations } }), Made)
        return { ...stored(id), noteId: note.id }
      }
    }
  }
})

function ask ({ settings: { accessToken } }: Pick<Call, 'settings'>, path: string, more: HttpCall = {}): [url: string, call: HttpCall] {
  return [`https://api.hubapi.com/${path}`, { bearer: accessToken, ...more }]
}

/** A repeated upload finds the file of the first one. */
async function upload (document: DocumentHandle, call: Call): Promise<string> {
  const options = { access: 'PRIVATE', duplicateValidationStrategy: 'RETURN_EXISTING', duplicateValidationScope: 'EXACT_FOLDER' }
  const { id } = await call.http.post(...ask(call, 'files/v3/files', {
    multipart: {
      file: document,
      fileName: `${call.idempotencyKey}-${plainFileName(document.filename)}`,
      folderPath: call.settings.folder ?? '/Documents',
      options: JSON.stringify(options)
    }
  }), Made)
  return id
}

function associationsOf ({ contactId, companyId, dealId }: Call['requestSettings']) {
  const tied = [[contactId, noteTo.contact], [companyId, noteTo.company], [dealId, noteTo.deal]] as const
  return tied.flatMap(([id, associationTypeId]) =>
    id === undefined ? [] : [{ to: { id }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId }] }]
  )
}
