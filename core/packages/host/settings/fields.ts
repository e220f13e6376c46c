import { type TArray, type TArrayOptions, type TString, type TStringOptions, Type } from 'typebox'

/** An empty settings schema. */
export const NoFields = Type.Object({})

/**
 * A secret setting, such as a password, a token or a key. It is encrypted at rest and never shown again. Texts and
 * log lines are redacted where it has 4 characters or more. In a process of its own a provider holds a handle in place of the secret, which
 * is resolved in what it sends; `'x-computed': true` gives it the secret, where it computes with it, as for a signature of its own.
 */
export function Secret (options: TStringOptions = {}): TString {
  return Type.String({ minLength: 1, ...options, 'x-secret': true })
}

/**
 * A setting with the destination of requests: a host or a URL. When it changes, the stored secrets are deleted, because they were meant for
 * the old destination.
 */
export function Host (options: TStringOptions = {}): TString {
  return Type.String({ minLength: 1, ...options, 'x-destination': true })
}

/** The French words of a field or of a choice, in which the console shows the form: its options spread them. */
export function inFrench (title: string, description?: string) {
  return { 'x-texts': { fr: { title, ...(description === undefined ? {} : { description }) } } }
}

/** The setting `allowedSenders` of a service that e-mails: who may send through the configuration. */
export function AllowedSenders (options: TArrayOptions = {}): TArray<TString> {
  return Type.Array(Type.String({ format: 'mail-sender', maxLength: 254 }), {
    title: 'Allowed senders',
    description: 'who e-mails may come from: whole addresses, or @example.com for everybody there',
    minItems: 1,
    maxItems: 100,
    ...options
  })
}

/** The French words of {@link AllowedSenders}, for a form whose other fields have some, too. */
export const allowedSendersInFrench = inFrench('Expéditeurs autorisés',
  'd’où les e-mails peuvent venir : des adresses entières, ou @example.com pour tout le domaine')

/** The usual sender of text messages: a number of the account, or a name. */
export function TextSender (options: TStringOptions = {}): TString {
  return Type.String({
    title: 'Sender',
    ...inFrench('Expéditeur', 'l’expéditeur habituel : un numéro du compte avec son indicatif, ou un nom de 11 lettres et chiffres'),
    description: 'the usual sender: a number of the account with the code of its country, or a name of up to 11 letters and digits',
    pattern: '^(\\+?[1-9]\\d{6,14}|[A-Za-z0-9]{1,11})$',
    examples: ['+15005550100'],
    ...options
  })
}

/** The settings `webhookUser` and `webhookPassword` of a vendor that sends events with HTTP Basic, for the verifier `basic`. */
export function webhookCredentials (vendor: string) {
  return {
    webhookUser: Type.Optional(Type.String({
      title: 'User of the webhook',
      ...inFrench('Utilisateur du webhook', `au choix, saisi aussi chez ${vendor}`),
      description: `of your choice, entered at ${vendor}, too`,
      pattern: '^[\\w.-]{1,100}$'
    })),
    webhookPassword: Type.Optional(Secret({
      title: 'Password of the webhook',
      ...inFrench('Mot de passe du webhook', `un long texte au choix, saisi aussi chez ${vendor}`),
      description: `a long text of your choice, entered at ${vendor}, too`,
      pattern: '^[\\w.~+/=-]{16,200}$'
    }))
  }
}

/** The settings of a service of AWS: its region, for hosts such as `sns.{region}.amazonaws.com`, and a key, as `sigv4` takes them. */
export function awsCredentials () {
  return {
    region: Host({
      title: 'Region',
      ...inFrench('Région', 'la région du service, par exemple eu-west-3'),
      description: 'the region of the service, such as eu-west-3',
      pattern: '^[a-z]{2}(-[a-z]+)+-\\d$',
      examples: ['eu-west-3']
    }),
    accessKeyId: Type.String({
      title: 'Access key id',
      ...inFrench('Identifiant de la clé d’accès', 'celui d’une clé réservée à cet usage, avec la permission d’envoyer et rien d’autre'),
      description: 'that of a key for this purpose, with the permission to send and no other',
      pattern: '^[A-Z0-9]{16,128}$'
    }),
    secretAccessKey: Secret({
      title: 'Secret access key',
      ...inFrench('Clé d’accès secrète', 'le secret de cette clé'),
      description: 'the secret of that key',
      pattern: '^\\S{16,}$'
    })
  }
}

/** The settings `clientId` and `clientSecret`: the app that a company has registered at a vendor, whose account a person connects. */
export function appCredentials (vendor: string) {
  return {
    clientId: Type.String({
      title: 'Client ID',
      ...inFrench('Identifiant client', `celui de l’application enregistrée chez ${vendor}`),
      description: `that of the app registered at ${vendor}`,
      pattern: '^[\\w.-]{6,200}$'
    }),
    clientSecret: Secret({
      title: 'Client secret',
      ...inFrench('Secret client', 'le secret de cette application'),
      description: 'the secret of that app',
      pattern: '^\\S{8,}$'
    })
  }
}

/** The setting `taxCodes` of a vendor that knows taxes by codes of its own, for `taxCodeOf`: `code` is one of its codes. */
export function TaxCodes ({ code, words, french }: { code: string, words: string, french: string }) {
  return Type.Array(
    Type.Object({
      percent: Type.Number({
        title: 'Percent',
        ...inFrench('Taux en pour cent', 'le taux de la taxe, comme dans vos factures'),
        description: 'the rate of the tax, as in your invoices',
        minimum: 0,
        maximum: 100,
        examples: [20]
      }),
      code: Type.String({
        title: 'Code',
        ...inFrench('Code', 'celui que cette taxe porte chez le fournisseur'),
        description: 'what the vendor calls this tax',
        pattern: '^[\\w.-]{1,64}$',
        examples: [code]
      })
    }),
    { title: 'Taxes', ...inFrench('Taxes', french), description: words, minItems: 1, maxItems: 50 }
  )
}

/** The setting `paper`: the size of pages, in portrait format, for `shareOfPage` where nobody knows it. Without it they are A4. */
export function Paper () {
  return Type.Optional(Type.Union([
    Type.Literal('A4', { title: 'A4', ...inFrench('A4') }),
    Type.Literal('Letter', { title: 'Letter', ...inFrench('Letter') })
  ], {
    title: 'Paper',
    ...inFrench('Papier', 'le format, en portrait, des pages à signer dont la taille n’est pas connue ; A4 par défaut'),
    description: 'the size, in portrait format, of pages to sign whose size is not known; A4 unless set'
  }))
}

/** An English and a French text. */
type Words = readonly [english: string, french: string]

/** This version of the API added the collection of payments. */
const collecting = { 'x-since': '1.0.1' } as const

/** What no value fits is refused with its reason before anything is made. */
const nothing = '^(?!)'

/**
 * The three request settings of a payment that an invoice collects, in the words of the vendor: `label` with its most characters (140
 * unless told). `link` is only told where the vendor names a page for payments; `noLink` and `noBeneficiary` say why a request for it is
 * refused.
 */
export function PaymentCollection ({ label, maxLabel = 140, noBeneficiary, ...reported }:
  & { label: Words, maxLabel?: number, noBeneficiary: Words }
  & (
    { link: Words } | { noLink: Words }
  ))
{
  const [english, french] = 'link' in reported ? reported.link : reported.noLink
  return Type.Object({
    includePaymentCollectionLink: Type.Optional(Type.Boolean({
      ...collecting,
      title: 'Payment link',
      ...inFrench('Lien de paiement', french),
      description: english,
      ...('noLink' in reported && { const: false })
    })),
    paymentCollectionLabel: Type.Optional(Type.String({
      ...collecting,
      title: 'Label',
      ...inFrench('Libellé', label[1]),
      description: label[0],
      minLength: 1,
      maxLength: maxLabel
    })),
    paymentCollectionBeneficiaryName: Type.Optional(Type.String({
      ...collecting,
      title: 'Beneficiary',
      ...inFrench('Bénéficiaire', noBeneficiary[1]),
      description: noBeneficiary[0],
      pattern: nothing
    }))
  })
}
