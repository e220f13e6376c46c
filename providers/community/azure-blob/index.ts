import { defineProvider, Host, inFrench, plainFileName, Secret, Type } from '@dispatch/core/provider'

/** Seconds. The name of a blob is unique for ever; a year stands for that. */
const year = 365 * 24 * 3600

export default defineProvider({
  code: 'azure-blob',
  name: 'Azure Blob Storage',
  docs: 'https://learn.microsoft.com/en-us/rest/api/storageservices/put-blob',
  hosts: ['{account}.blob.core.windows.net', 'login.microsoftonline.com'],
  settings: Type.Object({
    account: Host({
      title: 'Storage account',
      ...inFrench('Compte de stockage', 'son nom, devant .blob.core.windows.net'),
      description: 'its name, before .blob.core.windows.net',
      pattern: '^[a-z0-9]{3,24}$',
      examples: ['acmefiles']
    }),
    container: Type.String({
      title: 'Container',
      ...inFrench('Conteneur', 'le nom d’un conteneur qui existe'),
      description: 'the name of a container that exists',
      pattern: '^[a-z0-9](-?[a-z0-9]){2,62}$',
      examples: ['invoices']
    }),
    tenant: Type.String({
      title: 'Tenant ID',
      ...inFrench('ID de l’annuaire (tenant)', 'celui de l’inscription d’application, dans Microsoft Entra'),
      description: 'that of the app registration, in Microsoft Entra',
      pattern: '^[0-9a-f-]{36}$'
    }),
    clientId: Type.String({
      title: 'Application ID',
      ...inFrench('ID de l’application', 'celui de cette inscription'),
      description: 'that of the registration',
      pattern: '^[0-9a-f-]{36}$'
    }),
    clientSecret: Secret({
      title: 'Client secret',
      ...inFrench('Secret client', 'un secret de cette application'),
      description: 'a secret of that application',
      pattern: '^\\S{8,}$'
    })
  }),
  errors: {
    at: ['/Error/Code', { header: 'x-ms-error-code' }],
    message: ['/Error/Message', '/error_description'],
    map: {
      ContainerNotFound: 'provider_error',
      AuthorizationPermissionMismatch: 'authentication_error',
      ServerBusy: 'provider_unavailable'
    }
  },
  services: {
    upload: {
      // One Put Blob of the versions since 2019-12-12.
      maxSize: 5_000_000_000,
      // The same bytes again under the same name change nothing.
      idempotency: { kind: 'key', ttl: year },

      async dispatch ({ document }, { settings, idempotencyKey, http }) {
        const { account, container, tenant, clientId, clientSecret } = settings
        const id = `${idempotencyKey}-${plainFileName(document.filename)}`
        const url = `https://${account}.blob.core.windows.net/${container}/${encodeURIComponent(id)}`
        await http.put(url, {
          oauth2: {
            grant: 'client_credentials',
            tokenUrl: `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`,
            clientId,
            clientSecret,
            clientAuth: 'body',
            scope: 'https://storage.azure.com/.default'
          },
          headers: { 'x-ms-version': '2023-11-03', 'x-ms-blob-type': 'BlockBlob', 'content-type': document.contentType },
          document
        }, Type.Unknown())
        return { id, status: 'stored', url, size: document.size, sha256: document.sha256 }
      }
    }
  }
})
