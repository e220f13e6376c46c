import { appCredentials, defineProvider, failureOf, given, inFrench, Type } from '@dispatch/core/provider'

const api = 'https://www.googleapis.com'
const oauth2 = { grant: 'authorization_code' } as const
const File = Type.Object({ id: Type.String({ minLength: 1 }) })
const Ids = Type.Object({ ids: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }) })
const Begun = Type.Object({
  headers: Type.Object({ location: Type.String({ pattern: '^https://www\\.googleapis\\.com/upload/drive/v3/files\\?' }) })
})

const minute = 60

export default defineProvider({
  code: 'google-drive',
  name: 'Google Drive',
  docs: 'https://developers.google.com/workspace/drive/api/guides/manage-uploads',
  hosts: ['www.googleapis.com', 'oauth2.googleapis.com', 'accounts.google.com'],
  settings: Type.Object({
    ...appCredentials('Google'),
    folder: Type.Optional(Type.String({
      title: 'Folder ID',
      ...inFrench('ID du dossier',
        'la fin de l’adresse d’un dossier que cette application a fait ou qui lui est ouvert ; « Mon Drive » par défaut'),
      description: 'the end of the address of a folder that this app has made or may open; "My Drive" unless set',
      pattern: '^[\\w-]{10,100}$'
    }))
  }),
  connect: {
    authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    scope: 'https://www.googleapis.com/auth/drive.file',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    parameters: { access_type: 'offline', prompt: 'consent' }
  },
  errors: {
    at: '/error/errors/0/reason',
    message: '/error/message',
    map: {
      authError: 'authentication_error',
      notFound: 'provider_error',
      storageQuotaExceeded: 'provider_error',
      insufficientFilePermissions: 'provider_error'
    }
  },
  services: {
    upload: {
      maxSize: 5_000_000_000,
      checkpoint: true,
      // An id that was given and is not used leaves nothing behind.
      draftsStay: true,
      // Drive gives the id before the file is there, and refuses a second file with it.
      idempotency: { kind: 'lookup', visibleAfter: minute },

      async dispatch ({ document }, { settings: { folder }, http, reference, checkpoint, checkpointed }) {
        const id = checkpointed ?? (await http.get(`${api}/drive/v3/files/generateIds`, {
          oauth2,
          query: { count: 1, space: 'drive' }
        }, Ids)).ids[0] ?? ''
        await checkpoint(id)
        const { headers: { location } } = await http.post(`${api}/upload/drive/v3/files`, {
          oauth2,
          query: { uploadType: 'resumable', supportsAllDrives: true },
          headers: { 'x-upload-content-type': document.contentType },
          replyHeaders: ['location'],
          json: given({
            id,
            name: document.filename,
            mimeType: document.contentType,
            parents: folder === undefined ? [] : [folder],
            appProperties: { reference }
          })
        }, Begun)
        await http.put(location, { oauth2, headers: { 'content-type': document.contentType }, document }, File)
        return { id, status: 'stored', url: `https://drive.google.com/file/d/${id}/view`, size: document.size, sha256: document.sha256 }
      },

      async lookup ({ checkpoint: id }, { http }) {
        if (id === undefined) return { found: 'absent' }
        try {
          await http.get(`${api}/drive/v3/files/${encodeURIComponent(id)}`, { oauth2, query: { supportsAllDrives: true, fields: 'id' } },
            File)
          return { found: 'accepted', response: { id, status: 'stored', url: `https://drive.google.com/file/d/${id}/view` } }
        } catch (error) {
          if (failureOf(error)?.status === 404) return { found: 'absent' }
          throw error
        }
      }
    }
  }
})
