import { defineProvider, inFrench, Type } from '@dispatch/core/provider'

/** Seconds. The name of a file is unique for ever; a year stands for that. */
const year = 365 * 24 * 3600

/** Characters that separate folders, have a meaning in a shell or in Windows, or change the direction of text. */
const unsafe = /[/\\<>:"|?*\p{C}]+/gu
/** The most characters, of at most 4 bytes each: with a key before them, they stay below the limit of 255 bytes of file systems. */
const longestName = 50

export default defineProvider({
  code: 'disk',
  name: 'Disk',
  sandbox: { kind: 'flag' },
  needs: ['disk'],
  settings: Type.Object({
    folder: Type.Optional(Type.String({
      title: 'Folder',
      description: 'where files go below the company\'s folder, such as incoming/scans',
      ...inFrench('Dossier', 'où vont les fichiers dans le dossier de la société, par exemple arrivees/scans'),
      maxLength: 200,
      pattern: '^[A-Za-z0-9_][A-Za-z0-9_. -]*(/[A-Za-z0-9_][A-Za-z0-9_. -]*){0,4}$'
    }))
  }),
  services: {
    upload: {
      idempotency: { kind: 'key', ttl: year },
      async dispatch ({ document }, { settings: { folder }, sandbox, idempotencyKey, files }) {
        const path = [sandbox ? 'sandbox' : 'files', folder, `${idempotencyKey}-${nameOf(document.filename)}`].filter((part) =>
          part !== undefined
        ).join('/')
        await files.put(path, document)
        return { id: path, status: 'stored', size: document.size, sha256: document.sha256 }
      }
    }
  }
})

/** The end of a name, with its extension. */
function nameOf (filename: string): string {
  return Array.from(filename.normalize('NFC').replaceAll(unsafe, '-')).slice(-longestName).join('')
}
