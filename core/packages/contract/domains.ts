import { type Static, Type } from 'typebox'

const Domain = Type.String({
  maxLength: 253,
  pattern: '^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$',
  description: 'A domain of e-mail addresses, in lower case, as it is in the DNS (Punycode).',
  examples: ['acme.example.com']
})

/** The domains of a company, and the body that sets them. */
export const CompanyDomains = Type.Object({
  domains: Type.Array(Domain, {
    maxItems: 50,
    uniqueItems: true,
    description: 'Who gives an address of one of them at the sign-in is led to the provider of the company.',
    examples: [['acme.example.com']]
  })
}, { additionalProperties: false, title: 'CompanyDomains' })
export type CompanyDomains = Static<typeof CompanyDomains>
