// What Bicep's own functions on text leave out; it has no regular expressions.

@export()
@description('Whether the text has no other characters than these.')
func consistsOf(text string, characters string) bool =>
  empty(filter(range(0, length(text)), index => !contains(characters, substring(text, index, 1))))

@export()
@description('The parts between commas, without blanks around them and without empty ones.')
func listed(text string) string[] => filter(map(split(text, ','), part => trim(part)), part => !empty(part))
