import type { FastifyRequest } from 'fastify'
import type { Html } from '../../html.ts'
import { signInCodePage } from '../pages/sign-in-code.ts'
import { signInPage } from '../pages/sign-in.ts'
import { carriedForm, isLost } from '../session/kept-form.ts'
import { languageOf } from '../session/language.ts'
import { formsOf } from '../session/offered.ts'
import { partsOf } from '../session/visit.ts'

type Shown<Page extends typeof signInPage | typeof signInCodePage> = Omit<Parameters<Page>[1], 'verifications' | 'parts'>

/**
 * The language of the page (that of the request unless given), the kinds of verification that it offers (all), and the one that failed
 * (none).
 */
type Offer = { words?: Parameters<typeof signInPage>[0], kinds?: Parameters<typeof formsOf>[1], wrong?: string }

const verificationsOf = (request: FastifyRequest, { kinds, wrong }: Offer) => ({
  forms: formsOf(request, kinds),
  ...wrong !== undefined && { wrong }
})

/** The first page of a sign-in, with the form that the request carries along, or the word that it is lost. */
export function firstPage (request: FastifyRequest, shown: Shown<typeof signInPage>, offer: Offer = {}): Html {
  const offered = { verifications: verificationsOf(request, offer), parts: partsOf(request) }
  return signInPage(offer.words ?? languageOf(request), { kept: carriedForm(request), lost: isLost(request), ...offered, ...shown })
}

/** The second one, after a right password. */
export function secondPage (request: FastifyRequest, shown: Shown<typeof signInCodePage>, offer: Offer): Html {
  const verifications = verificationsOf(request, offer)
  return signInCodePage(offer.words ?? languageOf(request), { kept: carriedForm(request), lost: isLost(request), verifications, ...shown })
}
