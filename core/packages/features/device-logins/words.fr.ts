import type { words as en } from './words.en.ts'

/** The same in French. */
export const words: Record<keyof typeof en, string> = {
  device: 'Connecter une commande',
  deviceLink: 'Connecter une commande avec un code',
  deviceIntro: 'Une commande telle que « dispatch login » affiche un code de huit lettres. Saisissez-le ici : la commande reçoit une ' +
    'clé d’API à votre nom.',
  deviceCode: 'Code',
  deviceCodeHelp: 'Tel que la commande l’affiche, par exemple WDJB-MJHT. Ne saisissez jamais un code que quelqu’un vous a envoyé.',
  deviceNext: 'Suivant',
  deviceUnknown: 'Aucune commande n’attend ce code : il est inconnu, a déjà servi ou a expiré. Relancez la commande.',
  deviceAsks: 'Une commande demande une clé à votre nom',
  deviceWarning: 'Qui détient la clé agit en votre nom, dans les limites que vous accordez ici. Ne l’accordez que si vous avez lancé ' +
    'cette commande vous-même, sur une machine qui est devant vous. Personne du service ni de votre société ne vous ' +
    'demandera jamais de saisir un code.',
  deviceElsewhere: 'La commande s’exécute à une autre adresse que la vôtre. C’est normal pour une machine à laquelle vous vous êtes ' +
    'connecté à distance, et anormal pour une commande sur votre propre poste.',
  deviceClient: 'Elle se nomme',
  deviceAddress: 'Elle s’exécute à',
  deviceBegun: 'Lancée',
  deviceExpires: 'Code valable jusqu’à',
  deviceKeyName: 'Nom de la clé',
  deviceScopes: 'Ce qu’elle peut faire',
  deviceScopesHelp: 'Ce que la commande demande est coché, dans la limite de vos propres droits et de ce qu’une clé de test peut ' +
    'avoir. Seule une clé réelle peut avoir le reste.',
  deviceGrant: 'Accorder la clé',
  deviceDecline: 'Refuser',
  deviceGranted: 'Clé accordée. Revenez à la commande : elle prend la clé en quelques secondes. La clé figure parmi vos clés d’API, où ' +
    'vous la révoquez.',
  deviceDeclined: 'Refusé. La commande ne reçoit rien.',
  auditDeviceGranted: 'Clé accordée à une commande',
  auditDeviceDeclined: 'Connexion d’une commande refusée'
}
