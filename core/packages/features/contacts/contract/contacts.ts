import { CountryCode, EmailAddress, Line, Uuid } from '@dispatch/common'
import { Timestamp } from '@dispatch/contract'
import { type Static, Type } from 'typebox'

const closed = { additionalProperties: false } as const

/** A person or a company, by the names that the data of templates have. */
const party = {
  name: Line(300, { description: 'Of the company, or of the person where there is none.', examples: ['Müller & Söhne GmbH'] }),
  contact: Type.Optional(Line(300, { description: 'A person or a department there.', examples: ['Ada Lovelace'] })),
  email: Type.Optional(EmailAddress),
  phone: Type.Optional(Line(40, { description: 'With the country code.', examples: ['+49 30 5550142'] })),
  address: Type.Optional(Line(300, { description: 'Street and number.', examples: ['Lange Straße 27'] })),
  addressLine2: Type.Optional(Line(300, { examples: ['Hinterhaus'] })),
  postalCode: Type.Optional(Line(20, { examples: ['10115'] })),
  city: Type.Optional(Line(200, { examples: ['Berlin'] })),
  region: Type.Optional(Line(200, { description: 'Province, canton or state.', examples: ['BE'] })),
  country: Type.Optional(CountryCode),
  vatId: Type.Optional(Line(30, { examples: ['DE136695976'] }))
}

/** Somebody to whom documents go. */
export const ContactBody = Type.Object(party, closed)
export type ContactBody = Static<typeof ContactBody>

export const ContactView = Type.Object({
  id: Uuid,
  ...party,
  email: Type.Optional(Type.String({ examples: ['ada@example.com'] })),
  createdAt: Timestamp,
  updatedAt: Timestamp
}, { title: 'Contact' })
export type ContactView = Static<typeof ContactView>

export const ContactsQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: 100, description: 'A part of the name, of the person there or of the e-mail address.' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 25 })),
  cursor: Type.Optional(Type.String({ format: 'uuid', maxLength: 36, description: 'the nextCursor of the page before' }))
}, closed)

/** Who a company is on the documents that it sends. */
export const OwnDetails = Type.Object({
  seller: Type.Optional(Type.Object({
    ...party,
    legalForm: Type.Optional(Line(300, { description: 'Legal form, capital and register.', examples: ['Ltd · Dublin 654321'] })),
    taxId: Type.Optional(Line(100, { description: 'The tax number, where it is not the VAT number.', examples: ['30/123/45678'] }))
  }, closed)),
  bankDetails: Type.Optional(Type.Object({
    accountHolder: Type.Optional(Line(300, { examples: ['Northwind Consulting Ltd'] })),
    iban: Type.Optional(Line(42, { examples: ['IE29 AIBK 9311 5212 3456 78'] })),
    account: Type.Optional(Line(42, { description: 'An account without IBAN.', examples: ['12345678'] })),
    bic: Type.Optional(Line(11, { examples: ['AIBKIE2D'] })),
    bank: Type.Optional(Line(300, { examples: ['Allied Irish Banks'] }))
  }, closed))
}, { title: 'OwnDetails', ...closed })
export type OwnDetails = Static<typeof OwnDetails>
