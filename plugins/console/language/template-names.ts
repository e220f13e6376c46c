import type { Words } from './language.ts'

/** What the shared templates are called in the other languages of the console, by their ids: in English they have their own names. */
const names: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  fr: {
    1: 'Facture',
    2: 'Devis',
    3: 'Avoir',
    4: 'Facture électronique',
    10: 'E-mail de facture',
    11: 'E-mail de relance',
    12: 'E-mail de signature',
    13: 'E-mail de compte',
    20: 'SMS d’avis',
    21: 'SMS de relance',
    22: 'SMS de signature',
    30: 'Lettre',
    31: 'Lettre de relance',
    40: 'Contrat de prestation'
  }
}

/** What a template is called in the language of the reader: a company's own have one name. */
export function templateName ({ code }: Pick<Words, 'code'>, { id, name }: { id: number, name: string }): string {
  return names[code]?.[id] ?? name
}

/** The shared templates with a text in their name in the language of the reader; none in English, in which the API finds them. */
export function sharedTemplates ({ code }: Pick<Words, 'code'>, q: string): { id: number, name: string }[] {
  return Object.entries(names[code] ?? {}).filter(([, name]) => name.toLowerCase().includes(q.toLowerCase()))
    .map(([id, name]) => ({ id: Number(id), name }))
}
