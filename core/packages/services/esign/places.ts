import { pointer, type Problem } from '@dispatch/common'
import type { PdfPage } from '@dispatch/documents'
import { type Static, Type } from 'typebox'
import type { SignaturePlace } from '../content.ts'
import { pagesIn } from '../enclosures.ts'
import type { CheckInput } from '../service.ts'

/** The size of a place in points unless the request says it: that of a template's, about 70 by 21 mm. */
const usual = { width: 200, height: 60 } as const

const points = (what: string, example: number) =>
  Type.Number({ minimum: 0, maximum: 14_400, description: `Points (1/72 inch) ${what}.`, examples: [example] })
const size = (example: number) =>
  Type.Optional(Type.Number({ minimum: 20, maximum: 1000, default: example, description: 'Points (1/72 inch).' }))

/** Where a signer signs a given document. */
export const PlaceToSign = Type.Object({
  signer: Type.Integer({ minimum: 1, maximum: 50, description: 'The number in the list of signers, from 1.', examples: [1] }),
  page: Type.Integer({ minimum: 1, description: 'The page, from 1, through all documents in their order.', examples: [1] }),
  x: points('from the left of the page', 72),
  y: points('from the top of the page', 644),
  width: size(usual.width),
  height: size(usual.height)
}, { title: 'PlaceToSign', additionalProperties: false })

/** What of an envelope says where it is signed. */
type Signing = { signers: readonly unknown[], places?: readonly Static<typeof PlaceToSign>[] }

/** The places as providers get them, like those that templates have. */
export function placesToSign ({ places = [] }: Pick<Signing, 'places'>): SignaturePlace[] {
  return places.map((place) => ({ ...usual, ...place }))
}

/** Checks that each signer of a given document has a place on one of its pages, apart from the others. */
export function checkPlaces ({ fields, at, given, enclosed = [] }: Pick<
  CheckInput<Signing, never>,
  'fields' | 'at' | 'given' | 'enclosed'
>): Problem[] {
  const { signers, places } = fields
  if (given === undefined) {
    return places === undefined ? [] : [{
      path: at('places'),
      code: 'contradiction',
      message: 'Places are for a document that is given: a template says itself where signers sign.'
    }]
  }
  const pages = pagesIn([given, ...enclosed.filter((one) => one !== given)])
  const missing = signers.map((_, index) => index + 1).filter((number) => places?.some(({ signer }) => signer === number) !== true)
  const all = placesToSign(fields)
  return [
    ...missing.length === 0 ? [] : [{
      path: at('places'),
      code: 'no_places_to_sign',
      message: `Nobody knows where in a document that is given the signers sign: give a place for ${
        missing.length === 1 ? 'signer' : 'the signers'
      } ${missing.join(', ')}.`
    }],
    ...all.flatMap((place, index) => checkPlace(place, { path: pointer(at('places'), index), signers: signers.length, pages, all, index }))
  ]
}

type Among = { path: string, signers: number, pages: readonly PdfPage[] | undefined, all: readonly SignaturePlace[], index: number }

function checkPlace (place: SignaturePlace, { path, signers, pages, all, index }: Among): Problem[] {
  const page = pages?.[place.page - 1]
  const other = all.slice(0, index).findIndex((before) => overlap(before, place))
  return [
    ...place.signer <= signers ? [] : [{
      path: `${path}/signer`,
      code: 'unknown_signer',
      message: `There is no signer ${place.signer}: the list has ${signers}.`
    }],
    ...pages === undefined || page !== undefined ? [] : [{
      path: `${path}/page`,
      code: 'unknown_page',
      message: `There is no page ${place.page}: the document has ${pages.length}.`
    }],
    ...page === undefined ? [] : onPage(place, page, path),
    ...other < 0 ? [] : [{ path, code: 'overlapping', message: `It overlaps place ${other + 1}, which is on the same page.` }]
  ]
}

function onPage ({ x, y, width, height }: SignaturePlace, page: PdfPage, path: string): Problem[] {
  if (!page.plain) {
    return [{
      path: `${path}/page`,
      code: 'turned_page',
      message: 'The page is turned, cropped or scaled, and programs measure such a page in different ways: print it into a new PDF first.'
    }]
  }
  return x + width <= page.width && y + height <= page.height ? [] : [{
    path,
    code: 'outside_page',
    message: `It lies outside of the page, which is ${Math.round(page.width)} points wide and ${Math.round(page.height)} high.`
  }]
}

function overlap (one: SignaturePlace, other: SignaturePlace): boolean {
  return one.page === other.page && one.x < other.x + other.width && other.x < one.x + one.width && one.y < other.y + other.height &&
    other.y < one.y + one.height
}
