import { defineProvider, inFrench, plainFileName, Secret, Type } from '@dispatch/core/provider'

/** Seconds. The name of an object is unique for ever; a year stands for that. */
const year = 365 * 24 * 3600

const tokenUrl = 'https://oauth2.googleapis.com/token'
const Stored = Type.Object({ name: Type.String({ minLength: 1 }) })

export default defineProvider({
  code: 'gcs',
  name: 'Google Cloud Storage',
  docs: 'https://cloud.google.com/storage/docs/json_api/v1/objects/insert',
  hosts: ['storage.googleapis.com', 'oauth2.googleapis.com'],
  settings: Type.Object({
    bucket: Type.String({
      title: 'Bucket',
      ...inFrench('Compartiment', 'le nom d’un compartiment (bucket) qui existe'),
      description: 'the name of a bucket that exists',
      pattern: '^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$',
      examples: ['acme-invoices']
    }),
    clientEmail: Type.String({
      title: 'Service account',
      ...inFrench('Compte de service', 'son adresse : client_email du fichier de clé'),
      description: 'its address: client_email of the key file',
      pattern: '^[a-z0-9-]+@[a-z0-9.-]+\\.gserviceaccount\\.com$',
      examples: ['dispatch@acme-1.iam.gserviceaccount.com']
    }),
    privateKey: Secret({
      title: 'Private key',
      ...inFrench('Clé privée', 'private_key du fichier de clé, de BEGIN à END'),
      description: 'private_key of the key file, from BEGIN to END',
      pattern: '^\\s*-----BEGIN PRIVATE KEY-----'
    })
  }),
  errors: {
    at: ['/error/errors/0/reason', '/error'],
    message: ['/error/message', '/error_description'],
    map: {
      401: 'authentication_error',
      forbidden: 'authentication_error',
      invalid_grant: 'authentication_error',
      notFound: 'provider_error',
      rateLimitExceeded: 'provider_unavailable'
    }
  },
  services: {
    upload: {
      maxSize: 5_000_000_000,
      // The same bytes again under the same name change nothing.
      idempotency: { kind: 'key', ttl: year },

      async dispatch ({ document }, { settings: { bucket, clientEmail, privateKey }, idempotencyKey, http }) {
        const { name: id } = await http.post(`https://storage.googleapis.com/upload/storage/v1/b/${encodeURIComponent(bucket)}/o`, {
          oauth2: {
            grant: 'jwt_bearer',
            tokenUrl,
            assertion: {
              algorithm: 'RS256',
              key: privateKey,
              issuer: clientEmail,
              audience: tokenUrl,
              claims: { scope: 'https://www.googleapis.com/auth/devstorage.read_write' }
            }
          },
          query: { uploadType: 'media', name: `${idempotencyKey}-${plainFileName(document.filename)}` },
          headers: { 'content-type': document.contentType },
          document
        }, Stored)
        return { id, status: 'stored', bucket, size: document.size, sha256: document.sha256 }
      }
    }
  }
})
