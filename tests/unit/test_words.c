/* Words of the user in messages: how they are shown. */
#include "io/words.h"
#include "test.h"

#include <stdbool.h>

static void shows(const char *text, const char *wanted) {
  CHECK(strcmp(sni_show(text).text, wanted) == 0, "'%s', not '%s'", sni_show(text).text, wanted);
}

TEST(plain_text_stays) {
  shows("", "");
  shows("left/lower", "left/lower");
  shows("caf\xc3\xa9 \xe2\x88\x9a\xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x88\x9a\xf0\x9f\x98\x80");
  shows("\xc2\xa0", "\xc2\xa0"); /* the first that is no control character */
}

TEST(what_a_terminal_would_obey_is_escaped) {
  shows("\x1b[31mred", "\\x1b[31mred");
  shows("a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f");
  shows("\xc2\x9b"
        "2J",
        "\\xc2\\x9b2J"); /* U+009B is another ESC [ */
  shows("\x9b"
        "2J",
        "\\x9b2J");
}

TEST(what_is_no_utf8_is_escaped) {
  shows("\xff\xfe", "\\xff\\xfe");
  shows("a\xc3", "a\\xc3");          /* half a character at the end   */
  shows("\xe2\x88x", "\\xe2\\x88x"); /* and in the middle             */
  shows("\xc0\xaf", "\\xc0\\xaf");   /* overlong                      */
  shows("\xe0\x80\xaf", "\\xe0\\x80\\xaf");
  shows("\xed\xa0\x80", "\\xed\\xa0\\x80");          /* half of a pair of UTF-16      */
  shows("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"); /* beyond the last character  */
}

/* Never more than fits, always ended, and no character or escape cut in two. */
TEST(long_text_is_cut) {
  for (int n = 0; n < 100; n++) {
    char text[301];
    static const char *const unit[] = {"a", "\xc3\xa9", "\x1b", "\xf0\x9f\x98\x80"};
    for (int which = 0; which < 4; which++) {
      text[0] = 0;
      for (int k = 0; k < n && strlen(text) < 290; k++) {
        strcat(text, unit[which]);
      }
      const sni_shown s = sni_show(text);
      const size_t size = strlen(s.text), one = which == 2 ? 4 : strlen(unit[which]);
      CHECK(size < sizeof s.text, "%zu bytes", size);
      const bool cut = size >= 3 && strcmp(s.text + size - 3, "...") == 0;
      CHECK(cut || size == one * strlen(text) / strlen(unit[which]), "%d of %d: '%s'", n, which,
            s.text);
      CHECK((size - (cut ? 3 : 0)) % one == 0, "'%s'", s.text);
    }
  }
  char small[8];
  sni_show_into("0123456", small, sizeof small);
  CHECK(strcmp(small, "0123456") == 0, "'%s'", small);
  sni_show_into("01234567", small, sizeof small);
  CHECK(strcmp(small, "0123...") == 0, "'%s'", small);
}

int main(void) {
  RUN_TESTS(T(plain_text_stays), T(what_a_terminal_would_obey_is_escaped),
            T(what_is_no_utf8_is_escaped), T(long_text_is_cut));
}
