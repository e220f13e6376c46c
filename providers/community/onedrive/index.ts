import { appCredentials, defineProvider, inFrench, plainFileName, Type } from '@dispatch/core/provider'

/** Seconds. The name of a file is unique for ever; a year stands for that. */
const year = 365 * 24 * 3600

const oauth2 = { grant: 'authorization_code' } as const
const Item = Type.Object({ id: Type.String({ minLength: 1 }), webUrl: Type.Optional(Type.String()) })

export default defineProvider({
  code: 'onedrive',
  name: 'OneDrive and SharePoint',
  docs: 'https://learn.microsoft.com/en-us/graph/api/driveitem-put-content',
  hosts: ['graph.microsoft.com', 'login.microsoftonline.com'],
  settings: Type.Object({
    ...appCredentials('Microsoft'),
    tenant: Type.String({
      title: 'Tenant',
      ...inFrench('Annuaire (tenant)', 'son identifiant dans Microsoft Entra, ou « common » pour tous les comptes'),
      description: 'its id in Microsoft Entra, or "common" for all accounts',
      pattern: '^([0-9a-f-]{36}|common|organizations|consumers)$',
      examples: ['common']
    }),
    drive: Type.Optional(Type.String({
      title: 'Drive ID',
      ...inFrench('ID du lecteur (drive)', 'celui d’une bibliothèque SharePoint ; par défaut, le OneDrive de qui se connecte'),
      description: 'that of a library of SharePoint; the OneDrive of whoever connects unless set',
      pattern: '^[\\w!-]{6,100}$'
    })),
    folder: Type.Optional(Type.String({
      title: 'Folder',
      ...inFrench('Dossier', 'où vont les fichiers, par exemple Factures/2026 ; il est créé au besoin'),
      description: 'where files go, such as Invoices/2026; it is made where it is missing',
      maxLength: 200,
      pattern: '^[^/\\\\<>:"|?*#%]+(/[^/\\\\<>:"|?*#%]+)*$',
      examples: ['Invoices']
    }))
  }),
  connect: {
    authorizationUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/authorize',
    tokenUrl: 'https://login.microsoftonline.com/{tenant}/oauth2/v2.0/token',
    scope: 'offline_access Files.ReadWrite.All',
    clientId: 'clientId',
    clientSecret: 'clientSecret',
    clientAuth: 'body'
  },
  errors: {
    at: '/error/code',
    message: '/error/message',
    map: {
      InvalidAuthenticationToken: 'authentication_error',
      accessDenied: 'authentication_error',
      itemNotFound: 'provider_error',
      nameAlreadyExists: 'provider_error'
    }
  },
  check: ({ settings, http }) => http.get(driveOf(settings), { oauth2 }, Item),
  services: {
    upload: {
      maxSize: 250_000_000,
      // The same bytes again under the same name change nothing but the version.
      idempotency: { kind: 'key', ttl: year },

      async dispatch ({ document }, { settings, idempotencyKey, http }) {
        const path = [...settings.folder?.split('/') ?? [], `${idempotencyKey}-${plainFileName(document.filename)}`]
        const { id, webUrl: url } = await http.put(`${driveOf(settings)}/root:/${path.map(encodeURIComponent).join('/')}:/content`, {
          oauth2,
          headers: { 'content-type': document.contentType },
          document
        }, Item)
        return { id, status: 'stored', size: document.size, sha256: document.sha256, ...(url !== undefined && { url }) }
      }
    }
  }
})

function driveOf ({ drive }: { drive?: string }): string {
  return `https://graph.microsoft.com/v1.0/${drive === undefined ? 'me/drive' : `drives/${encodeURIComponent(drive)}`}`
}
