import { type Html, html } from '@dispatch/plugins/console'

/** What each rule of the tax authority says, for French readers: the API says it in English. */
export const french: Readonly<Record<string, string>> = {
  'G1.01': 'Le type d’une facture est un code de la liste de l’administration (TT-21).',
  'G1.02': 'Le cadre de facturation est un code de la liste de l’administration (TT-28).',
  'G1.05': 'Le numéro d’une facture a 35 caractères au plus : lettres, chiffres, espaces simples et - + _ /.',
  'G1.09': 'Une date s’écrit AAAA-MM-JJ, de 2000 à 2099.',
  'G1.10': 'Une devise est un code de trois lettres.',
  'G1.102': 'Une facture sans TVA (E) porte le numéro de TVA du vendeur ou de son représentant.',
  'G1.104': 'L’identifiant d’un rapport a 50 caractères au plus : lettres, chiffres, espaces simples et - + _ / (TT-1).',
  'G1.14': 'Un montant a deux décimales et 19 chiffres au plus.',
  'G1.15': 'Une quantité a quatre décimales et 19 chiffres au plus.',
  'G1.16': 'Un prix ou un encaissement a six décimales et 19 chiffres au plus, sans signe.',
  'G1.24': 'Le taux est l’un des taux français.',
  'G1.32': 'Un avoir ou une facture rectificative désigne la facture concernée et sa date.',
  'G1.40': 'Une exonération (E) a un code et un motif.',
  'G1.53': 'La base et la TVA sont les sommes de celles de chaque taux.',
  'G1.60': 'Un acompte (386, 500, 503) n’est pas la facture définitive après un acompte (B4, S4, M4).',
  'G1.68': 'La catégorie des ventes est un code de la liste de l’administration (TT-81).',
  'G2.01': 'Un pays est un code de deux lettres.',
  'G2.19': 'Un identifiant est un SIREN (0002), un numéro de TVA (0223), un nom (0227), ou un numéro de Nouvelle-Calédonie (0228) ou de ' +
    'Polynésie (0229).',
  'G2.31': 'La catégorie de TVA est un code de la liste.',
  'G2.33': 'Qui est désigné par un SIREN ou un numéro de TVA a un numéro de TVA (TT-34, TT-38).',
  'G6.21': 'VATEX-FR-CNWVAT est réservé aux avoirs.',
  'G6.22': 'La plateforme est désignée par son numéro de quatre caractères (TT-8).',
  'G6.25': 'Le dernier jour de la période est après le premier.',
  'G6.26': 'Le déclarant est désigné par un SIREN de neuf chiffres (TT-13).',
  'G6.28': 'Le client d’une facture entre deux pays est désigné par un identifiant (TT-36).',
  'G7.53': 'L’heure d’un rapport s’écrit AAAA-MM-JJThh:mm:ss, de 2000 à 2099 (TT-3).',
  'P1.11': 'Le code d’exigibilité de la TVA est un code de la liste (TT-24).'
}

/** What a rule says, in the language of the page where there is a sentence of it. */
export function ruleSentence ({ code: language }: { code: string }, { code, message }: { code: string, message: string }): Html {
  if (language === 'en') return html`${message}`
  const sentence = french[code]
  return sentence === undefined ? html`<span lang="en">${message}</span>` : html`${sentence}`
}
