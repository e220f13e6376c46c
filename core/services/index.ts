import type { JsonObject } from '@dispatch/common'
import type { FileFormat, Format } from '@dispatch/documents'
import { type ServiceName, serviceNames } from '../contract/service-names.ts'
import type { ContentKind } from './content.ts'
import { attaches, email } from './email.ts'
import { esign } from './esign.ts'
import { file } from './file.ts'
import { invoicing } from './invoicing.ts'
import { isLinked } from './link.ts'
import { postal } from './postal.ts'
import type { AnyProvidedService, AnyService } from './service.ts'
import { sms } from './sms.ts'
import { upload } from './upload.ts'

const all = { invoicing, esign, postal, sms, email, file, upload } satisfies Record<ServiceName, unknown>

type All = typeof all
type Dispatched<Name extends ServiceName> = All[Name] extends { request: (...given: never) => infer Dispatch } ? Dispatch : never
/** The services that a provider does; the others are done here. */
export type ProvidedName = { [Name in ServiceName]: Dispatched<Name> extends never ? never : Name }[ServiceName]

/** Every service, by its name in the path. */
export const services: { readonly [Name in ServiceName]: Name extends ProvidedName ? AnyProvidedService<Dispatched<Name>> : AnyService } =
  all

export const providedNames = serviceNames.filter(needsProvider)

/** The format of the document that a service makes of its template. */
export function formatOf (name: ServiceName, fields: JsonObject): FileFormat {
  return services[name].format?.of(fields) ?? 'pdf'
}

const messageFormats = { message: 'html', text: 'text', upload: 'pdf' } as const satisfies Partial<Record<ContentKind, Format>>

/** The format in which a service renders its template: a document, a mail, or a text. */
export function madeAs (name: ServiceName, fields: JsonObject): Format {
  const { content } = services[name]
  return content === 'document' ? formatOf(name, fields) : messageFormats[content]
}

/** Whether a step asks for the document of its chain: to send it, to attach it, or to link to it. */
export function takesDocument (name: ServiceName, fields: JsonObject): boolean {
  const { consumes } = services[name].chain
  return consumes === 'document' || (consumes === 'attachment' && attaches(fields)) || isLinked(fields)
}

/** Whether the service is done by a provider. */
export function needsProvider (name: ServiceName): name is ProvidedName {
  return services[name].capabilities !== undefined
}
