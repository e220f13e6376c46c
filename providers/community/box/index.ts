import { appCredentials, defineProvider, failureOf, inFrench, plainFileName, textOf, Type } from '@dispatch/core/provider'

/** Seconds. The name of a file is unique for ever; a year stands for that. */
const year = 365 * 24 * 3600

const File = Type.Object({ id: Type.String({ minLength: 1 }) })
const Stored = Type.Object({ entries: Type.Array(File, { minItems: 1 }) })
const oauth2 = { grant: 'authorization_code' } as const

export default defineProvider({
  code: 'box',
  name: 'Box',
  docs: 'https://developer.box.com/reference/post-files-content/',
  hosts: ['upload.box.com', 'api.box.com', 'account.box.com'],
  settings: Type.Object({
    ...appCredentials('Box'),
    folder: Type.Optional(Type.String({
      title: 'Folder ID',
      ...inFrench('ID du dossier', 'celui d’un dossier qui existe : le nombre à la fin de son adresse ; par défaut 0, la racine'),
      description: 'that of a folder that exists: the number at the end of its address; 0, the root, unless set',
      pattern: '^\\d{1,20}$',
      examples: ['0']
    }))
  }),
  connect: {
    authorizationUrl: 'https://account.box.com/api/oauth2/authorize',
    tokenUrl: 'https://api.box.com/oauth2/token',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    clientAuth: 'body'
  },
  errors: {
    at: '/code',
    message: '/message',
    map: {
      item_name_in_use: 'provider_error',
      storage_limit_exceeded: 'provider_error',
      access_denied_insufficient_permissions: 'authentication_error'
    }
  },
  check: ({ settings: { folder = '0' }, http }) =>
    http.get(`https://api.box.com/2.0/folders/${folder}/items`, { oauth2, query: { limit: 1 } },
      Type.Object({ entries: Type.Array(File) })),
  services: {
    upload: {
      // https://developer.box.com/guides/uploads/direct/: larger files are uploaded in parts.
      maxSize: 50_000_000,
      // A name is in use where an earlier attempt has stored the file: names begin with the key.
      idempotency: { kind: 'key', ttl: year },

      async dispatch ({ document }, { settings: { folder = '0' }, idempotencyKey, repeated, http }) {
        const name = `${idempotencyKey}-${plainFileName(document.filename)}`
        const stored = (id: string) => ({ id, status: 'stored', name, size: document.size, sha256: document.sha256 })
        try {
          const { entries: [file] } = await http.post('https://upload.box.com/api/2.0/files/content', {
            oauth2,
            multipart: { attributes: { json: { name, parent: { id: folder } } }, file: document }
          }, Stored)
          return stored(file?.id ?? '')
        } catch (error) {
          const { code, body = null } = failureOf(error) ?? {}
          const id = textOf(body, '/context_info/conflicts/id') ?? textOf(body, '/context_info/conflicts/0/id')
          if (repeated !== true || code !== 'item_name_in_use' || id === undefined) throw error
          return stored(id)
        }
      }
    }
  }
})
