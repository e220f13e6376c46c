import { type DispatchRequest, eventBeforeDocument, hasOwnDocument, isDeferringService, isDeliveryService, isSince, type Mode,
  parseDeliveryEvent, type Version } from '@dispatch/contract'
import { capabilitiesOf, makesDocument, statusesOf } from '@dispatch/host'
import { type Findings, formatOf, furtherDocuments, services, takesDocument } from '@dispatch/services'
import { addressProblems, type Guard } from '@dispatch/vendor-io'
import type { ResolvedStep } from './resolve.ts'

/** Warns of a `callbackUrl` that is never called: the client gets the end as its answer, and no step has delivery events. */
export function checkCallback ({ callbackUrl, services: path }: DispatchRequest, mode: Mode, version: Version): Findings {
  const reported = isSince('1.1.0', version) ? isDeliveryService : isDeferringService
  if (callbackUrl === undefined || mode === 'asynchronous' || path.some(reported)) return {}
  return {
    warnings: [{
      path: '/callbackUrl',
      code: 'unused_field',
      message:
        'The end of this dispatch is in the answer: the callback is sent only with ?async=true, or when the dispatch takes longer than ' +
        'the client may wait.'
    }]
  }
}

/** Refuses a `callbackUrl` whose host is a private address. A host name is resolved and checked when the callback is sent. */
export function checkCallbackAddress ({ callbackUrl }: DispatchRequest, guard: Pick<Guard, 'check'>): Findings {
  return { problems: addressProblems(guard, callbackUrl, { path: '/callbackUrl', what: 'Callbacks' }) }
}

/** Refuses to sign a document that a provider makes: nobody knows where in it the signers sign. */
export function checkSignaturePlaces ([first, ...later]: readonly ResolvedStep[]): Findings {
  const provider = first?.choice?.provider
  if (first === undefined || provider === undefined || !makesDocument(provider.manifest.services[first.service])) return {}
  return {
    problems: later.filter(({ service }) => services[service].signers !== undefined).map(({ service }) => ({
      path: `/${service}`,
      code: 'no_places_to_sign',
      message: `The provider "${provider.code}" makes the document of "${first.service}" itself, so that nobody knows where in it to ` +
        `sign: choose another one for "${first.service}", or leave "${service}" out.`
    }))
  }
}

/** Refuses a deferred step that needs the signed document when the provider of its signature does not hand it out. */
export function checkSigned (steps: readonly ResolvedStep[], deferred: readonly ResolvedStep[]): Findings {
  return {
    problems: deferred.flatMap(({ service, fields, template, deferredOn, at }) => {
      if (deferredOn === undefined || !hasOwnDocument(deferredOn) || !takesDocument(service, fields)) return []
      const { service: signing } = parseDeliveryEvent(deferredOn)
      if (template === undefined && fields[furtherDocuments] !== undefined) {
        return [{
          path: at(furtherDocuments),
          code: 'signed_pdf',
          message: `"${service}" takes over the signed document on ${deferredOn}: joined with others, it would not be signed any more.`
        }]
      }
      const provider = steps.find((step) => step.service === signing)?.choice?.provider
      if (provider?.manifest.services[signing]?.verbs.includes('document') !== false) return []
      return [{
        path: at('on'),
        code: 'no_signed_document',
        message: `"${service}" takes over the signed document on ${deferredOn}, and the provider "${provider.code}" hands out none: ` +
          `choose another provider for "${signing}", or an event on which the document is taken as it was sent, such as ${
            eventBeforeDocument(signing)
          }.`
      }]
    })
  }
}

/** Refuses a deferred step whose event the provider never reports: it would wait for ever. */
export function checkEvents (steps: readonly ResolvedStep[], deferred: readonly ResolvedStep[]): Findings {
  return {
    problems: deferred.flatMap(({ deferredOn, at }) => {
      if (deferredOn === undefined) return []
      const { service, status } = parseDeliveryEvent(deferredOn)
      const provider = steps.find((step) => step.service === service)?.choice?.provider
      const reported = provider && statusesOf(provider.manifest, service)
      if (reported === undefined || reported.some((word) => word === status)) return []
      const which = reported.length === 0 ? 'of nothing that becomes of it' : `of ${reported.join(', ')} alone`
      return [{
        path: at('on'),
        code: 'not_supported_by_provider',
        message: `The provider "${provider?.code ?? ''}" never tells of the event "${deferredOn}": it tells ${which}.`
      }]
    })
  }
}

/** Refuses a letter whose template has another paper size than the provider prints. */
export function checkPapers ([first, ...later]: readonly ResolvedStep[], deferred: readonly ResolvedStep[]): Findings {
  if (first === undefined) return {}
  const provider = first.choice?.provider
  // A provider that makes the document also chooses its page size.
  const handed = makesDocument(provider?.manifest.services[first.service]) ? undefined : first.template
  const printed = [first, ...[...later, ...deferred].map((step) => ({ ...step, template: handed }))]
  return {
    problems: printed.flatMap(({ service, choice, template }) => {
      const by = capabilitiesOf(choice?.provider, service)
      const why = by === undefined || template === undefined
        ? undefined
        : services[service].paper?.check(template.template.source.page ?? {}, by)
      return why === undefined || template === undefined
        ? []
        : [{ path: template.path.replace(/\/data$/, ''), code: 'not_supported_by_provider', message: why }]
    })
  }
}

/** Refuses a chain in which a later service does not take the format of the document that the first one makes. */
export function checkFormats ([first, ...later]: readonly ResolvedStep[]): Findings {
  if (first === undefined || later.length === 0) return {}
  const format = formatOf(first.service, first.fields)
  const refusing = later.filter(({ service }) => services[service].chain.formats?.includes(format) === false).map(({ service }) => service)
  return {
    problems: refusing.map((service) => ({
      path: first.at(services[first.service].format?.field ?? ''),
      code: 'format_not_taken',
      message:
        `"${service}" takes ${services[service].chain.formats?.join(', ').toUpperCase() ?? 'no'} documents, and "${first.service}" ` +
        `makes ${format.toUpperCase()} here.`
    }))
  }
}
