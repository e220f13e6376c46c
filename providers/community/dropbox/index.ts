import { appCredentials, defineProvider, inFrench, plainFileName, Type } from '@dispatch/core/provider'

/** Seconds. The name of a file is unique for ever; a year stands for that. */
const year = 365 * 24 * 3600

const Stored = Type.Object({
  id: Type.String({ minLength: 1 }),
  path_display: Type.Optional(Type.String()),
  rev: Type.Optional(Type.String())
})

export default defineProvider({
  code: 'dropbox',
  name: 'Dropbox',
  docs: 'https://www.dropbox.com/developers/documentation/http/documentation#files-upload',
  hosts: ['content.dropboxapi.com', 'api.dropboxapi.com', 'www.dropbox.com'],
  settings: Type.Object({
    ...appCredentials('Dropbox'),
    folder: Type.Optional(Type.String({
      title: 'Folder',
      ...inFrench('Dossier', 'où vont les fichiers, par exemple /Factures ; il est créé au besoin'),
      description: 'where files go, such as /Invoices; it is made where it is missing',
      maxLength: 200,
      pattern: '^(/[^/\\\\<>:"|?*]+)+$',
      examples: ['/Invoices']
    }))
  }),
  connect: {
    authorizationUrl: 'https://www.dropbox.com/oauth2/authorize',
    tokenUrl: 'https://api.dropboxapi.com/oauth2/token',
    scope: 'files.content.write',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    parameters: { token_access_type: 'offline' }
  },
  // 409 is an ordinary refusal, which says where (path) and why.
  errors: {
    at: ['/error/reason/.tag', '/error/.tag'],
    message: '/error_summary',
    map: {
      conflict: 'provider_error',
      insufficient_space: 'provider_error',
      no_write_permission: 'provider_error',
      malformed_path: 'provider_error',
      disallowed_name: 'provider_error',
      payload_too_large: 'provider_error',
      too_many_write_operations: 'provider_unavailable',
      expired_access_token: 'authentication_error',
      missing_scope: 'authentication_error'
    }
  },
  services: {
    upload: {
      // https://www.dropbox.com/developers/documentation/http/documentation#files-upload: 150 MiB in one request.
      maxSize: 150 * 1024 * 1024,
      // "add" without a new name: the same content under the same name is a success, and makes no copy.
      idempotency: { kind: 'key', ttl: year },

      async dispatch ({ document }, { settings: { folder = '' }, idempotencyKey, http }) {
        const path = `${folder}/${idempotencyKey}-${plainFileName(document.filename)}`
        const { id, path_display: shown = path, rev } = await http.post('https://content.dropboxapi.com/2/files/upload', {
          oauth2: { grant: 'authorization_code' },
          headers: {
            'content-type': 'application/octet-stream',
            'dropbox-api-arg': inAscii({ path, mode: 'add', autorename: false, mute: true })
          },
          document
        }, Stored)
        return { id, status: 'stored', path: shown, size: document.size, sha256: document.sha256, ...(rev !== undefined && { rev }) }
      }
    }
  }
})

/** JSON in a header: letters beyond ASCII are written as \\u. */
function inAscii (value: object): string {
  return JSON.stringify(value).replaceAll(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
