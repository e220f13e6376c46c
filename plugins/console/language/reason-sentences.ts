import { fill, serviceNames, textIn, wordFor, type Words } from './language.ts'

/**
 * Sentences in which the service gives a reason, as it writes them, and what a French page says in their place. Values stand in braces, and
 * both have the same.
 */
export const frenchReasons: Readonly<Record<string, string>> = {
  // Failures of a request to an address of a company.
  'The address is not an https:// URL.': 'L’adresse ne commence pas par https://.',
  'The address has a user name or a password.': 'L’adresse a un nom d’utilisateur ou un mot de passe.',
  '"{host}" did not answer within {n} seconds.': '« {host} » n’a pas répondu en {n} secondes.',
  'The host "{host}" may not be called: its address is not public.': '« {host} » ne peut pas être appelé : son adresse n’est pas publique.',
  '"{host}" refused the connection.': '« {host} » a refusé la connexion.',
  '"{host}" cannot be found, or has no permitted address.': '« {host} » est introuvable, ou n’a pas d’adresse permise.',
  '"{host}" cannot be reached.': '« {host} » est injoignable.',
  '"{host}" has no valid TLS certificate, or does not speak TLS.': '« {host} » n’a pas de certificat TLS valable, ou ne parle pas TLS.',
  '"{host}" did not answer in time.': '« {host} » n’a pas répondu à temps.',
  '"{host}" cut the connection.': '« {host} » a coupé la connexion.',
  '"{host}" sent an answer that is not HTTP.': '« {host} » a envoyé une réponse qui n’est pas du HTTP.',
  '"{host}" failed (for an unknown reason).': '« {host} » a échoué, sans raison connue.',
  '"{host}" failed ({code}).': '« {host} » a échoué ({code}).',
  'It answered {status}; redirects are not followed.': 'Réponse {status} ; les redirections ne sont pas suivies.',
  'It answered {status} instead of 200.': 'Réponse {status} au lieu de 200.',
  'The receiver answered {status}.': 'Le destinataire a répondu {status}.',

  // Failures of a message of an alert.
  'None of the addresses is the company\'s any more.': 'Aucune de ces adresses n’est plus à la société.',
  'The mail could not be sent.': 'L’e-mail n’a pas pu être envoyé.',
  'There is no chat.': 'Aucune messagerie n’est réglée.',

  // Reasons why a step has a provider, or has another one.
  'It stands in for the chosen provider, which has no test environment, because the request is a test.':
    'Il remplace le fournisseur choisi, qui n’a pas d’environnement de test, car la demande est un test.',
  'The request names it.': 'La demande le nomme.',
  'It follows another one in the list that is the default of the user.': 'Il en suit un autre dans la liste par défaut de l’utilisateur.',
  'It follows another one in the list that is the default of the company.': 'Il en suit un autre dans la liste par défaut de la société.',
  'It follows "{code}" in the list that is the default of the user.': 'Il suit « {code} » dans la liste par défaut de l’utilisateur.',
  'It follows "{code}" in the list that is the default of the company.': 'Il suit « {code} » dans la liste par défaut de la société.',
  'The default of the user chose it.': 'C’est le choix par défaut de l’utilisateur.',
  'The default of the company chose it.': 'C’est le choix par défaut de la société.',
  'It is the first of the list that is the default of the user.': 'C’est le premier de la liste par défaut de l’utilisateur.',
  'It is the first of the list that is the default of the company.': 'C’est le premier de la liste par défaut de la société.',
  'It was drawn from the list that is the default of the user, with a weight of {weight} in {total}.':
    'Il a été tiré de la liste par défaut de l’utilisateur, avec un poids de {weight} sur {total}.',
  'It was drawn from the list that is the default of the company, with a weight of {weight} in {total}.':
    'Il a été tiré de la liste par défaut de la société, avec un poids de {weight} sur {total}.',
  'It was called, and surely did not send it ("{error}").': 'Il a été appelé et n’a rien envoyé, c’est sûr (« {error} »).',
  'It surely did not send it ("{error}"), and "{next}" was tried next.':
    'Il n’a rien envoyé, c’est sûr (« {error} »), et « {next} » a été essayé ensuite.',
  'The request is a test, and "{code}" stands in for the chosen provider, which has no test environment. Which one that was is not kept.':
    'La demande est un test, et « {code} » remplace le fournisseur choisi, qui n’a pas d’environnement de test. Lequel c’était n’est pas ' +
    'conservé.',
  'The request names "{code}".': 'La demande nomme « {code} ».',
  'The default of the user chose "{code}".': 'Le choix par défaut de l’utilisateur est « {code} ».',
  'The default of the company chose "{code}".': 'Le choix par défaut de la société est « {code} ».',
  'It does not stand in the list that is the default of the user.': 'Il n’est pas dans la liste par défaut de l’utilisateur.',
  'It does not stand in the list that is the default of the company.': 'Il n’est pas dans la liste par défaut de la société.',
  'It stands in the list now, but after a doubt nobody else is tried: it could be sent twice.':
    'Il est dans la liste maintenant, mais après un doute nul autre n’est essayé : l’envoi pourrait partir deux fois.',
  'It stands in the list now; whether it did then is not kept.': 'Il est dans la liste maintenant ; s’il y était alors n’est pas conservé.',
  'It stands in the list now, but was not in it, or could not do the step, when the dispatch was planned.':
    'Il est dans la liste maintenant, mais n’y était pas, ou ne convenait pas, quand l’envoi a été préparé.',
  'It stands in the list, and comes into question where "{code}" does not send.':
    'Il est dans la liste, et sert si « {code} » n’envoie rien.',
  'Its check does not answer.': 'Son contrôle ne répond pas.',
  'The provider "{code}" does not offer "{service}"; it offers {others}.':
    'Le fournisseur « {code} » n’offre pas ce service : {service}. Il offre : {others}.',
  'The provider "{code}" writes to a disk, but the operator has not provided one: DISPATCH_DISK_ROOT is not set.':
    'Le fournisseur « {code} » écrit sur un disque, et l’opérateur n’en a pas prévu.',

  // Reasons about an adapter, or another provider of the operator.
  'It is disabled.': 'Il est désactivé.',
  'The service is down.': 'Le service est arrêté.',
  'The code "{code}" belongs to another source of providers.': 'Le code « {code} » appartient à une autre source de fournisseurs.',
  'The code "{code}" belongs to {folder}, a folder of the providers\' directory.':
    'Le code « {code} » appartient à {folder}, un dossier du répertoire des fournisseurs.',
  '{idle} of {all} processes do not run it.': '{idle} processus sur {all} ne l’exécutent pas.'
}

/** Each English sentence as a pattern, with what takes its place. */
const patterns = Object.entries(frenchReasons).map(([english, text]) => ({
  of: new RegExp(
    `^${
      english.replaceAll(/[.?()]/g, '\\$&').replaceAll(/\{(\w+)\}/g,
        (_, name: string) => name === 'n' ? '(?<n>[\\d.]+)' : `(?<${name}>.+?)`)
    }$`
  ),
  text
}))

/** Values that are words of the API, as a page says them. `others`: services. */
const spoken: Readonly<Record<string, (words: Words, value: string) => string>> = {
  error: (words, value) => wordFor(words, 'fault', value),
  service: (words, value) => wordFor(words, 'service', value),
  others: (words, value) => serviceNames(words, value.split(', '))
}

/** The French sentence for a reason of the service, with its values; undefined for any other text. `words`: of a French page. */
export function frenchReasonOf (words: Words, message: string): string | undefined {
  for (const { of, text } of patterns) {
    const found = of.exec(message)
    if (found !== null) {
      const values = Object.entries({ ...found.groups }).map(([name, value]) => [name, spoken[name]?.(words, value) ?? value] as const)
      return fill(textIn(words, { en: message, fr: text }), Object.fromEntries(values))
    }
  }
  return undefined
}
