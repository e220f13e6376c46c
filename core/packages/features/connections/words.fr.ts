import type { words as en } from './words.en.ts'

export const words: Record<keyof typeof en, string> = {
  connection: 'Connexion',
  connectIntro: 'Le fournisseur demande son accord à la personne qui y a le compte. Enregistrez d’abord cette adresse chez lui.',
  connectConfirm: 'Relier le compte chez le fournisseur à votre entreprise ? Continuez seulement si vous l’avez demandé vous-même.',
  connect: 'Relier',
  connectAgain: 'Relier à nouveau',
  connectOneself: 'Vous agissez au nom de quelqu’un d’autre. Chacun relie lui-même un compte chez un fournisseur.',
  connectedAt: 'Relié depuis',
  redirectUri: 'Adresse de retour (redirect URI)',
  disconnectIntro: 'Sans cette connexion, ce fournisseur ne peut rien envoyer.',
  disconnect: 'Rompre la connexion',
  connection_connected: 'relié',
  connection_not_connected: 'non relié',
  connection_ended: 'rompue par le fournisseur'
}
