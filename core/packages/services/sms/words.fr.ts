export const fr = {
  service_sms: 'SMS',
  field_sender: 'Expéditeur',
  help_sender: 'Un nom de 1 à 11 lettres et chiffres, dont une lettre au moins ; celui du fournisseur par défaut.',
  field_transliterate: 'Éviter l’Unicode',
  help_transliterate: 'Les signes comme ’ sont remplacés par des signes proches : un seul fait plus que doubler le prix d’un texte.',
  field_message: 'Texte',
  delivery_queued: 'en attente',
  delivery_sent: 'envoyé'
}
