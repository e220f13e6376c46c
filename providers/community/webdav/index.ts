import { defineProvider, Host, plainFileName, Secret, Type } from '@dispatch/core/provider'

/** Seconds. The name of a file is unique for ever; a year stands for that. */
const year = 365 * 24 * 3600

/** The most characters of a file's own name, of at most 4 bytes each: with a key before them they fit into 255 bytes. */
const longestName = 50

export default defineProvider({
  code: 'webdav',
  name: 'WebDAV',
  docs: 'https://www.rfc-editor.org/rfc/rfc4918',
  settings: Type.Object({
    url: Host({
      title: 'Folder',
      'x-texts': {
        fr: {
          title: 'Dossier',
          description: 'l’adresse d’un dossier qui existe, par exemple https://cloud.example.com/remote.php/dav/files/ada/factures'
        }
      },
      description: 'the address of an existing folder, such as https://cloud.example.com/remote.php/dav/files/ada/invoices',
      format: 'https-url',
      maxLength: 500,
      pattern: '^[^?#]+$'
    }),
    user: Type.String({
      title: 'User',
      'x-texts': { fr: { title: 'Utilisateur', description: 'le nom de connexion' } },
      description: 'the name to sign in with',
      minLength: 1,
      pattern: '^[^:]+$'
    }),
    password: Secret({
      title: 'Password',
      'x-texts': {
        fr: {
          title: 'Mot de passe',
          description: 'Le mot de passe de cet utilisateur ; de préférence un mot de passe réservé à cet usage.'
        }
      },
      description: 'The password of that user; better one for this purpose alone.'
    })
  }),
  // RFC 4918, 9.7.1: the folder is not there.
  errors: { map: { 409: 'provider_error' } },
  services: {
    upload: {
      // The same file again under the same name changes nothing, and makes a half one whole.
      idempotency: { kind: 'key', ttl: year },

      async dispatch ({ document }, { settings: { url, user, password }, idempotencyKey, http }) {
        const name = `${idempotencyKey}-${plainFileName(document.filename, longestName)}`
        const place = `${url.replace(/\/+$/, '')}/${encodeURIComponent(name)}`
        await http.put(place, { basic: [user, password], headers: { 'content-type': document.contentType }, document }, Type.Unknown())
        return { id: name, status: 'stored', url: place, size: document.size, sha256: document.sha256 }
      }
    }
  }
})
