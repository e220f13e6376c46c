import { fill, textIn, wordFor, type Words } from './language.ts'

/** A problem or an error of the API: its code or word, and its own sentence. */
export type Told = { message: string, code?: string | undefined, error?: string | undefined }

/** A sentence for the reader. `lang`: it is the API's own, in another language than the page. */
export type Said = { text: string, lang?: 'en' }

/**
 * What the console says of a problem or an error. The API's sentences are for programs, too: what they tell of its operations is left
 * out. In French the code has words of its own; the API's sentence follows where they do not say all of it.
 */
export function saidOf (words: Words, { message, code, error }: Told): readonly Said[] {
  const own = withoutOperations(message)
  const whole = wholeOf(words, own)
  if (whole !== undefined) return [{ text: whole }]
  if (words.code === 'en') return [{ text: own }]
  const [name] = [code, error].filter((one) => one !== undefined && Object.hasOwn(french, one))
  const quoted: Said = { text: own, lang: 'en' }
  return name === undefined ? [quoted] : [{ text: textIn(words, { en: own, fr: french[name] ?? '' }) }, quoted]
}

/** The same as one text, for what has no markup. */
export function textOfSaid (words: Words, told: Told): string {
  return saidOf(words, told).map(({ text }) => text).join(' ')
}

/** A sentence without what it tells programs to call: `: set one with PUT /api/…`, `(POST /api/…)`. */
function withoutOperations (message: string): string {
  return message.replaceAll(/ \((?:GET|POST|PUT|DELETE) \/[^)]*\)/g, '')
    .replace(/[:;,.] [^:;,.]*\b(?:GET|POST|PUT|DELETE) \/[^]*$/, '.')
}

type Text = { readonly en: string, readonly fr: string }

function wholeOf (words: Words, message: string): string | undefined {
  for (const { of, say } of sentences) {
    const found = of.exec(message)
    if (found !== null) return say(words, found.groups ?? {})
  }
  return undefined
}

type Groups = Readonly<Record<string, string | undefined>>
type Sentence = { of: RegExp, say: (words: Words, groups: Groups) => string | undefined }

/** A sentence with the values of the API's in it. */
const told = (of: RegExp, text: Text): Sentence => ({
  of,
  say: (words, groups) => fill(textIn(words, text), Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, value ?? ''])))
})

/** Sentences of the API about the shape of values, which words of the console take the place of. */
const sentences: readonly Sentence[] = [
  told(/^The field "[^"]*" is required\.$/, { en: 'Fill this in.', fr: 'À remplir.' }),
  told(/^The field "[^"]*" is required where "(?<other>[^"]*)" is given\.$/, {
    en: 'Fill this in too: it belongs to “{other}”.',
    fr: 'À remplir aussi : cela va avec « {other} ».'
  }),
  { of: /^Expected (?<types>[\w ]+), got [\w ]+\./, say: typeSaid },
  { of: /^Expected one of (?<values>.+?)(?: \(did you mean "(?<near>[^"]*)"\?\))?\.$/, say: choiceSaid },
  told(/^Unknown field "(?<name>[^"]*)" \(did you mean "(?<near>[^"]*)"\?\)\.$/, {
    en: 'There is no field “{name}”. Did you mean “{near}”?',
    fr: 'Le champ « {name} » n’existe pas. Vouliez-vous dire « {near} » ?'
  }),
  told(/^Unknown field "(?<name>[^"]*)"\.$/, { en: 'There is no field “{name}”.', fr: 'Le champ « {name} » n’existe pas.' }),
  told(/^Must not be empty\.$/, { en: 'This must not be empty.', fr: 'Ce champ ne doit pas être vide.' }),
  told(/^Needs at least (?<n>\d+) characters\.$/, { en: 'Write at least {n} characters.', fr: 'Au moins {n} caractères.' }),
  told(/^May have at most (?<n>\d+) characters\.$/, { en: 'Write at most {n} characters.', fr: 'Au plus {n} caractères.' }),
  told(/^Needs at least (?<n>\d+) (?:items|fields)\.$/, { en: 'At least {n} are needed.', fr: 'Il en faut au moins {n}.' }),
  told(/^May have at most (?<n>\d+) (?:items|fields)\.$/, { en: 'At most {n} are possible.', fr: 'Il en faut au plus {n}.' }),
  told(/^Must be at least (?<n>-?[\d.e+]+)\.$/, { en: 'This must be {n} or more.', fr: 'La valeur doit être {n} ou plus.' }),
  told(/^Must be at most (?<n>-?[\d.e+]+)\.$/, { en: 'This must be {n} or less.', fr: 'La valeur doit être {n} ou moins.' }),
  told(/^Must be more than (?<n>-?[\d.e+]+)\.$/, { en: 'This must be more than {n}.', fr: 'La valeur doit être supérieure à {n}.' }),
  told(/^Must be less than (?<n>-?[\d.e+]+)\.$/, { en: 'This must be less than {n}.', fr: 'La valeur doit être inférieure à {n}.' }),
  told(/^Two items are the same\.$/, { en: 'Two of these are the same.', fr: 'Deux de ces valeurs sont identiques.' }),
  told(/^Not a valid date \(YYYY-MM-DD\)\.$/, {
    en: 'This is not a date, such as 2026-03-14.',
    fr: 'Ce n’est pas une date, comme 2026-03-14.'
  }),
  told(/^Not a valid (?:e-mail address|sender)\b[^.]*(?:\.[^. ]+)*\.$/, {
    en: 'This is not an e-mail address, such as ada@example.com.',
    fr: 'Ce n’est pas une adresse e-mail, comme ada@example.com.'
  }),
  told(/^Not a valid https:\/\/ URL \([^)]*\)\.$/, {
    en: 'This is not an address that begins with https://, without a user name and password.',
    fr: 'Ce n’est pas une adresse qui commence par https://, sans nom d’utilisateur ni mot de passe.'
  }),
  told(/^Not a valid URL\.$/, { en: 'This is not an address of the web.', fr: 'Ce n’est pas une adresse du web.' }),
  {
    of: /^No provider is chosen for "(?<service>\w+)": name one in "providerName"\.$/,
    say: (words, { service = '' }) =>
      fill(
        textIn(words, {
          en: 'No provider is chosen for this: {service}. Choose one here, or for all on the page of providers.',
          fr: 'Aucun fournisseur n’est choisi pour ce service : {service}. Choisissez-en un ici, ou pour tous à la page des fournisseurs.'
        }),
        { service: wordFor(words, 'service', service) }
      )
  },
  told(/^The image is not a readable (?<format>\w+) file\.$/, {
    en: 'This picture cannot be read: it is not a whole {format} file.',
    fr: 'Cette image est illisible : ce n’est pas un fichier {format} entier.'
  }),
  told(/^The PDF cannot show (?<signs>[^:]+): there is no font for them\.$/, {
    en: 'The PDF cannot show these signs: {signs}. There is no font for them.',
    fr: 'Le PDF ne peut pas montrer ces signes : {signs}. Aucune police ne les a.'
  }),
  told(/^The provider "(?<code>[^"]*)" has no configuration\.$/, {
    en: 'The provider “{code}” has no settings yet.',
    fr: 'Le fournisseur « {code} » n’a pas encore de réglages.'
  }),
  told(/^The provider "(?<code>[^"]*)" has no test environment, or its configuration does not reach it\.$/, {
    en: 'The provider “{code}” has no test environment, or its settings do not lead to it.',
    fr: 'Le fournisseur « {code} » n’a pas d’environnement de test, ou ses réglages n’y mènent pas.'
  })
]

/** What types are called: `integer`, `true or false`. */
const types: Readonly<Record<string, Text>> = {
  integer: { en: 'a whole number', fr: 'un nombre entier' },
  number: { en: 'a number', fr: 'un nombre' },
  string: { en: 'a text', fr: 'un texte' },
  array: { en: 'a list', fr: 'une liste' },
  object: { en: 'several fields', fr: 'plusieurs champs' },
  true: { en: 'yes', fr: 'oui' },
  false: { en: 'no', fr: 'non' }
}

function typeSaid (words: Words, { types: given = '' }: Groups): string | undefined {
  const names = given.split(' or ').filter((name) => name !== 'null').map((name) => types[name])
  if (names.length === 0 || names.includes(undefined)) return undefined
  const what = names.map((name) => name === undefined ? '' : textIn(words, name)).join(words.code === 'fr' ? ' ou ' : ' or ')
  return fill(textIn(words, { en: 'This must be {what}.', fr: 'Il faut {what}.' }), { what })
}

function choiceSaid (words: Words, { values = '', near }: Groups): string {
  const listed = fill(textIn(words, { en: 'Choose one of: {values}.', fr: 'Choisissez parmi : {values}.' }), {
    values: values.replaceAll('"', '')
  })
  return near === undefined
    ? listed
    : `${listed} ${fill(textIn(words, { en: 'Did you mean “{near}”?', fr: 'Vouliez-vous dire « {near} » ?' }), { near })}`
}

/** What the words and codes of the API mean, in French. */
export const french: Readonly<Record<string, string>> = {
  validation_error: 'La demande n’a pas la bonne forme.',
  unsupported_version: 'Cette version de l’API n’existe pas.',
  unauthorized: 'Vous n’êtes pas connecté.',
  fresh_proof_required: 'Il faut prouver de nouveau que c’est vous.',
  insufficient_credits: 'Il n’y a pas assez de crédits.',
  approval_required: 'Une autre personne de la société doit d’abord l’approuver. Rien n’a été envoyé.',
  budget_exceeded: 'Un budget mensuel ne le couvre pas.',
  authorization_pending: 'Personne n’a encore autorisé cette connexion.',
  slow_down: 'L’appareil demande trop souvent.',
  access_denied: 'Cette connexion a été refusée.',
  expired_token: 'Ce code est inconnu, a déjà servi ou a expiré.',
  forbidden: 'Vous n’avez pas le droit de le faire.',
  https_required: 'La connexion n’est pas chiffrée.',
  template_not_found: 'Ce modèle n’existe pas.',
  not_found: 'Cet objet n’existe pas.',
  unknown_service: 'Ce service n’existe pas.',
  unknown_chain: 'Ces services ne peuvent pas se suivre.',
  document_expired: 'Le document a été supprimé.',
  idempotency_in_progress: 'La première demande est encore en cours.',
  conflict: 'L’état actuel ne le permet pas.',
  consent_required: 'L’adaptateur demande plus que ce qui a été accordé.',
  payload_too_large: 'C’est trop grand.',
  unsupported_media_type: 'Ce type de contenu n’est pas accepté.',
  expectation_failed: 'L’expéditeur n’est pas autorisé, ou il n’y a pas de destinataire.',
  validation_failed: 'Les données ne conviennent pas.',
  provider_error: 'Le fournisseur l’a refusé.',
  configuration_missing: 'Le fournisseur n’est pas choisi, ou n’a pas de réglages valables.',
  suppressed: 'Rien ne doit être envoyé à ce destinataire.',
  authentication_error: 'Le fournisseur n’accepte pas les identifiants des réglages.',
  idempotency_key_reused: 'Ce formulaire a déjà servi, avec un autre contenu.',
  partially_dispatched: 'Une partie a été envoyée. Ne renvoyez pas le tout : réessayez le reste.',
  rate_limited: 'Il y a eu trop de demandes. Attendez un peu.',
  distant_service_error: 'Le serveur de messagerie a refusé le message.',
  document_damaged: 'Le document enregistré est endommagé. Rien n’en est parti.',
  internal_error: 'Le service a rencontré une erreur.',
  service_unavailable: 'Le service est indisponible pour le moment. Rien n’est parti.',
  provider_unavailable: 'Le fournisseur est indisponible. Rien n’est parti.',
  timeout: 'Cela prend trop de temps.',
  recording_unknown: 'On ne sait pas encore si la demande est enregistrée.',
  outcome_unknown: 'Le fournisseur l’a peut-être accepté. Rien n’est renvoyé avant de le savoir.',

  bad_bic: 'Ce BIC n’est pas valable.',
  bad_iban: 'Cet IBAN n’est pas valable.',
  bad_image: 'Cette image est illisible.',
  low_contrast: 'Cette couleur est trop claire pour être lue sur du papier blanc.',
  columns: 'Les colonnes ne conviennent pas.',
  connection_ended: 'La connexion au fournisseur a pris fin.',
  const: 'Cette valeur n’est pas possible ici.',
  contradiction: 'Deux indications se contredisent.',
  due_date_before_date: 'L’échéance précède la date du document.',
  due_date_in_the_past: 'L’échéance est passée.',
  duplicate: 'Cette valeur figure deux fois.',
  duplicate_recipient: 'Ce destinataire figure deux fois.',
  duplicate_signer: 'Ce signataire figure deux fois.',
  empty: 'Ce fichier est vide.',
  enum: 'Ce choix n’existe pas.',
  encrypted_pdf: 'Ce PDF est chiffré.',
  exemption_reason_missing: 'Le motif de l’exonération manque.',
  expires_before: 'Le document sera supprimé avant l’envoi.',
  finer_than_currency: 'La devise n’a pas autant de décimales.',
  forbidden_character: 'Un caractère n’est pas permis.',
  forbidden_key: 'Ce nom n’est pas permis.',
  format: 'Cette valeur n’a pas la bonne forme.',
  format_not_taken: 'Le fournisseur n’accepte pas ce format.',
  guessable: 'Ce mot de passe se devine trop facilement.',
  ignored: 'Cette valeur n’a pas d’effet.',
  impossible_number: 'Ce numéro ne peut pas exister.',
  json: 'Ce n’est pas du JSON.',
  locks_out: 'Cela vous fermerait l’accès.',
  longer_than_operator: 'C’est plus long que la durée de l’opérateur.',
  mailed_twice: 'La même personne recevrait deux messages.',
  many_segments: 'Ce SMS est long : il compte pour plusieurs.',
  mention_missing: 'Une mention obligatoire manque.',
  network: 'Cette adresse n’est pas accessible.',
  no_document: 'Il n’y a pas de document.',
  no_mobile_number: 'Ce n’est pas un numéro de mobile.',
  no_provider: 'Aucun fournisseur n’est choisi.',
  no_recipient: 'Il n’y a pas de destinataire.',
  one_recipient: 'Seul un e-mail à un destinataire unique permet de se désinscrire.',
  no_sandbox: 'Ce fournisseur n’a pas d’environnement de test.',
  too_late: 'Cette date est trop lointaine.',
  never_open: 'Aucune heure ne convient partout dans le pays du destinataire.',
  inactive_recipient: 'L’annuaire dit que personne ne reçoit de factures à cette adresse.',
  in_the_past: 'Cette heure est passée.',
  in_the_future: 'Cette heure est encore à venir.',
  no_such_time: 'Cette heure n’existe pas.',
  normalized_number: 'Le numéro est écrit autrement.',
  not: 'Cette valeur n’est pas permise.',
  not_addresses: 'Ce ne sont pas des adresses.',
  not_carried: 'Le fournisseur ne transmet pas cette valeur.',
  not_connected: 'Le fournisseur n’est pas encore connecté.',
  no_pdf: 'Ce document n’est pas un PDF.',
  no_picture: 'Ce fichier n’est pas une image.',
  not_installed: 'Ce fournisseur n’est pas installé.',
  not_own_address: 'Ce n’est l’adresse d’aucun utilisateur de la société, ni une adresse de ses domaines.',
  not_permitted: 'Ce n’est pas permis.',
  not_scanned: 'Ce fichier n’a pas pu être examiné.',
  not_supported: 'Ce n’est pas possible ici.',
  not_supported_by_provider: 'Le fournisseur ne le permet pas.',
  not_what_it_says: 'Ce fichier n’est pas ce qu’il dit être.',
  number_out_of_range: 'Ce nombre est hors limites.',
  other_document_type: 'Le modèle fait un autre type de document.',
  other_recipient: 'Le document nomme un autre destinataire.',
  over_quota: 'Les fichiers de la société n’ont plus de place.',
  past: 'Cette date est passée.',
  pattern: 'Cette valeur n’a pas la bonne forme.',
  recomputed: 'La valeur calculée est différente.',
  required: 'À remplir.',
  required_by_provider: 'Le fournisseur en a besoin.',
  sample_data: 'Cette valeur vient de l’exemple.',
  sender_not_allowed: 'Cet expéditeur n’est pas permis par les réglages.',
  sender_not_carried: 'Le fournisseur ne transmet pas cet expéditeur.',
  static_subject: 'Le sujet est envoyé tel quel.',
  static_text: 'Le texte est envoyé tel quel.',
  too_deep: 'Ces données sont trop imbriquées.',
  too_few: 'Il n’y en a pas assez.',
  too_large: 'C’est trop grand.',
  too_long: 'C’est trop long.',
  too_many: 'Il y en a trop.',
  too_short: 'C’est trop court.',
  too_small: 'C’est trop petit.',
  type: 'Cette valeur n’est pas du bon type.',
  unassigned_number: 'Ce numéro n’est attribué à personne.',
  unicode_text: 'Ce texte coûte plus cher à cause d’un signe particulier.',
  unknown_asset: 'Cette image n’existe pas.',
  unknown_partial: 'Ce bloc commun ou cette mise en page n’existe pas.',
  partial_cycle: 'Ce bloc commun s’inclut lui-même.',
  unknown_country: 'Ce pays n’existe pas.',
  price_of_credit: 'Un crédit a un seul prix, quel que soit son usage.',
  duplicate_price: 'Ce prix figure deux fois.',
  unknown_currency: 'Cette devise n’existe pas.',
  unknown_field: 'Ce champ n’existe pas.',
  unknown_rate: 'La facture n’a pas ce taux de TVA.',
  unknown_recipient: 'L’annuaire ne connaît personne à cette adresse.',
  unknown_setting: 'Ce réglage n’existe pas.',
  unreadable: 'Ce contenu est illisible.',
  unreadable_pdf: 'Ce PDF est illisible.',
  unsupported_characters: 'La police n’a pas certains de ces signes.',
  unused_field: 'Cette valeur n’est pas utilisée.',
  unusual_postal_code: 'Ce code postal est inhabituel.',
  webhook_not_registered: 'L’adresse des événements n’est pas enregistrée chez le fournisseur.',
  wrong_environment: 'Cette clé est celle d’un autre environnement.',
  wrong_template: 'Ce modèle ne convient pas.'
}
