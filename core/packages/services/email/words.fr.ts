export const fr = {
  service_email: 'E-mail',
  field_from: 'De',
  field_to: 'À',
  field_cc: 'Copie (Cc)',
  field_bcc: 'Copie cachée (Cci)',
  field_replyTo: 'Réponse à',
  field_subject: 'Objet',
  field_attachGenerated: 'Joindre le document',
  field_body: 'Texte',
  delivery_bounced: 'rejeté',
  delivery_opened: 'ouvert',
  delivery_clicked: 'lien cliqué',
  delivery_complained: 'signalé comme spam'
}
