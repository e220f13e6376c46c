import { type Static, Type } from 'typebox'
import { ProviderCode } from './common.ts'

/** The errors with which a vendor refuses a request for sure, and after which a list may name the next provider. */
export const refusalWords = ['provider_error', 'authentication_error', 'distant_service_error'] as const

/** A provider of a list: how often it is the first of a dispatch, and when it follows another one. */
export const ListedProvider = Type.Object({
  providerName: ProviderCode,
  weight: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1000,
      description: 'Its share of the dispatches that begin with it. In a list with weights, one without a weight only follows others; in ' +
        'a list without weights, every dispatch begins with the first.'
    })
  ),
  after: Type.Optional(
    Type.Array(Type.Enum(refusalWords), {
      minItems: 1,
      uniqueItems: true,
      description: 'It also follows a provider that has refused the request with one of these errors. It always follows one that has ' +
        'surely not sent it.'
    })
  )
}, { additionalProperties: false, title: 'ListedProvider' })
export type ListedProvider = Static<typeof ListedProvider>

/** Providers in the order in which they follow each other. */
export const ProviderList = Type.Array(ListedProvider, {
  minItems: 1,
  maxItems: 8,
  examples: [[{ providerName: 'twilio' }, { providerName: 'simulator', after: ['authentication_error'] }]]
})
