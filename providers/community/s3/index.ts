import { defineProvider, Host, Secret, type Static, Type } from '@dispatch/core/provider'

/** Seconds. The key of an object is unique for ever; a year stands for that. */
const year = 365 * 24 * 3600

/** Bytes of one PUT: https://docs.aws.amazon.com/AmazonS3/latest/userguide/upload-objects.html. */
const maxSize = 5_000_000_000

const longestName = 100

const Settings = Type.Object({
  endpoint: Host({
    title: 'Endpoint',
    'x-texts': { fr: { title: 'Adresse', description: 'l’adresse du stockage, par exemple https://s3.eu-west-3.amazonaws.com' } },
    description: 'the address of the store, such as https://s3.eu-west-3.amazonaws.com',
    format: 'https-url',
    pattern: '^https://[^/?#]+/?$'
  }),
  region: Type.String({
    title: 'Region',
    'x-texts': { fr: { title: 'Région', description: 'la région que nomment les signatures, par exemple eu-west-3' } },
    description: 'the region that signatures name, such as eu-west-3',
    pattern: '^[a-z0-9-]{1,40}$'
  }),
  bucket: Type.String({
    title: 'Bucket',
    'x-texts': { fr: { title: 'Compartiment', description: 'le nom du compartiment (bucket)' } },
    description: 'the name of the bucket',
    pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$'
  }),
  prefix: Type.Optional(Type.String({
    title: 'Prefix',
    'x-texts': { fr: { title: 'Préfixe', description: 'où vont les objets dans le compartiment, par exemple factures/2026' } },
    description: 'where objects go in the bucket, such as invoices/2026',
    maxLength: 200,
    pattern: '^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$'
  })),
  accessKeyId: Type.String({
    title: 'Access key id',
    'x-texts': { fr: { title: 'Identifiant de la clé d’accès', description: 'l’identifiant d’une clé qui peut déposer des objets' } },
    description: 'the id of a key that may put objects',
    minLength: 3,
    maxLength: 128
  }),
  secretAccessKey: Secret({
    title: 'Secret access key',
    pattern: '^\\S+$',
    'x-texts': { fr: { title: 'Clé d’accès secrète', description: 'Le secret de cette clé.' } },
    description: 'The secret of that key.'
  })
})

export default defineProvider({
  code: 's3',
  name: 'S3',
  docs: 'https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html',
  settings: Settings,
  errors: {
    at: '/Error/Code',
    message: '/Error/Message',
    map: {
      InvalidAccessKeyId: 'authentication_error',
      SignatureDoesNotMatch: 'authentication_error',
      AccessDenied: 'authentication_error',
      NoSuchBucket: 'provider_error',
      SlowDown: 'provider_unavailable'
    }
  },
  services: {
    upload: {
      maxSize,
      // The same object again under the same key changes nothing.
      idempotency: { kind: 'key', ttl: year },

      async dispatch ({ document }, { settings, idempotencyKey, http }) {
        const id = [settings.prefix, `${idempotencyKey}-${nameOf(document.filename)}`].filter((part) => part !== undefined).join('/')
        const url = `${settings.endpoint.replace(/\/+$/, '')}/${settings.bucket}/${id.split('/').map(encodeURIComponent).join('/')}`
        await http.put(url, { sigv4: keyOf(settings), headers: { 'content-type': document.contentType }, document }, Type.Unknown())
        return { id, status: 'stored', url, bucket: settings.bucket, size: document.size, sha256: document.sha256 }
      }
    }
  }
})

function keyOf ({ accessKeyId, secretAccessKey, region }: Static<typeof Settings>) {
  return { accessKeyId, secretAccessKey, region, service: 's3' }
}

/** The end of a name, with its extension: letters and digits of every script, without what a key takes only with care. */
function nameOf (filename: string): string {
  return Array.from(filename.normalize('NFC').replaceAll(/[^\p{L}\p{M}\p{N}_.-]+/gu, '-')).slice(-longestName).join('')
}
