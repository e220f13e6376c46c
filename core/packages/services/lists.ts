import type { JsonObject } from '@dispatch/common'
import { type FileFormat, type Format, usualFormats } from '@dispatch/documents'
import { all } from './all.ts'
import type { ContentKind } from './content.ts'
import { isLinked } from './link.ts'
import { type ProvidedName, type ServiceContracts, type ServiceName, serviceNames } from './names.ts'
import type { AnyProvidedService, AnyService } from './service.ts'

/** Every service, by its name in the path. */
export const services: {
  readonly [Name in ServiceName]: Name extends ProvidedName ? AnyProvidedService<ServiceContracts[Name]['dispatch']> : AnyService
} = all

export const providedNames = serviceNames.filter(needsProvider)

/** The service that sends mail, also that of the installation itself. */
export const mailService = all.email.name

/** The services that templates are made for. */
export const templateServices = serviceNames.filter((name) => services[name].template !== undefined)

/** The services whose file comes with the request, as a form. */
export const uploadServices = serviceNames.filter((name) => services[name].content === 'upload')

/** The services whose request is JSON. */
export const jsonServices = serviceNames.filter((name) => services[name].content !== 'upload')

/** The format of the document that a service makes of its template. */
export function formatOf (name: ServiceName, fields: JsonObject): FileFormat {
  return services[name].format?.of(fields) ?? usualFormats.document
}

const messageFormats = {
  message: usualFormats.mail,
  text: usualFormats.message,
  upload: usualFormats.document
} as const satisfies Partial<Record<ContentKind, Format>>

/** The format in which a service renders its template: a document, a mail, or a text. */
export function madeAs (name: ServiceName, fields: JsonObject): Format {
  const { content } = services[name]
  return content === 'document' ? formatOf(name, fields) : messageFormats[content]
}

/** Whether a step asks for the document of its chain: to send it, to attach it, or to link to it. */
export function takesDocument (name: ServiceName, fields: JsonObject): boolean {
  const { chain } = services[name]
  return chain.consumes === 'document' || (chain.consumes === 'attachment' && chain.takes?.(fields) !== false) || isLinked(fields)
}

/** Whether the service is done by a provider. */
export function needsProvider (name: ServiceName): name is ProvidedName {
  return services[name].capabilities !== undefined
}
