import { type Json, placeLine } from '@dispatch/common'
import { type Static, Type } from 'typebox'
import type { Recipient } from './recipient-facts.ts'

const closed = { additionalProperties: false } as const
const from = (side: string) => Type.Number({ minimum: 5, maximum: 280, description: `Millimetres from the ${side} of the page.` })

/** A part of the page that the window of an envelope shows wherever the sheet slips to, which the address may fill. */
const EnvelopeWindow = Type.Object({
  left: from('left'),
  top: from('top'),
  width: Type.Number({ minimum: 40, maximum: 200, description: 'Millimetres.' }),
  height: Type.Number({ minimum: 15, maximum: 100, description: 'Millimetres.' })
}, closed)

/** Of a vendor that reads the address from the first page: the page with the address that the host can put there. */
export const AddressPage = Type.Object({
  when: Type.Optional(
    Type.Record(Type.String({ pattern: '^(/[^/]+)+$' }), Type.Unsafe<Json>({}), {
      description: 'Only for requests in which the values at these JSON pointers fit these schemas, as those of a limit; otherwise for all.'
    })
  ),
  window: EnvelopeWindow,
  windows: Type.Optional(
    Type.Object({ setting: Type.String({ minLength: 1 }), places: Type.Record(Type.String(), EnvelopeWindow) }, {
      ...closed,
      description: 'Windows elsewhere, by the values of a setting.'
    })
  )
}, closed)
export type AddressPage = Static<typeof AddressPage>

const countries = new Intl.DisplayNames('en', { type: 'region' })

/** An address as machines read it: line by line, the country last, in capital letters (UPU S42). */
export function addressLines ({ name, company = '', address, country, ...place }: Recipient): string[] {
  const lines = [company, name, ...address.split('\n'), placeLine({ ...place, country }), (countries.of(country) ?? country).toUpperCase()]
  return lines.map((line) => line.trim()).filter((line) => line !== '')
}
