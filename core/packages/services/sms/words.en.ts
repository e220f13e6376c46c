export const en = {
  service_sms: 'SMS',
  field_sender: 'Sender',
  help_sender: 'A name of 1 to 11 letters and digits, with a letter at least; the usual one of the provider unless set.',
  field_transliterate: 'Avoid Unicode',
  help_transliterate: 'Signs such as ’ are replaced by near ones, because a single one more than doubles the price of a text.',
  field_message: 'Text',
  delivery_queued: 'queued',
  delivery_sent: 'sent'
}
