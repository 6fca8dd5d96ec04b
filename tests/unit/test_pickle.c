/* test_pickle.c - reading object arrays: every pattern numpy writes, and that all else is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "pickle_text.h"

/* Read a pickle from memory that is exactly as large, so that AddressSanitizer sees every byte too
 * many. *copy is freed after the document. */
static int read_copy(const void *bytes, size_t n_bytes, const struct pickle_limits *limits,
                     uint8_t **copy, struct pickle_document *document, struct error *err)
{
    *copy = malloc(n_bytes > 0 ? n_bytes : 1);
    assert_non_null(*copy);
    memcpy(*copy, bytes, n_bytes);
    return pickle_read(*copy, n_bytes, limits, document, err);
}

static void assert_reads(const char *pickle, size_t n_bytes, const char *expected)
{
    struct pickle_document document;
    struct error err = {0};
    uint8_t *copy;
    char *text;

    if (read_copy(pickle, n_bytes, &pickle_default_limits, &copy, &document, &err) != 0)
        fail_msg("refused: %s\nexpected: %s", err.message, expected);
    text = document_text(&document);
    assert_string_equal(text, expected);
    free(text);
    pickle_release(&document);
    assert_null(document.chunks);
    free(copy);
}

#define CASE(pickle, text)               \
    {                                    \
        pickle, sizeof(pickle) - 1, text \
    }

static void test_accepted(void **state)
{
    static const struct {
        const char *pickle;
        size_t n_bytes;
        const char *text;
    } cases[] = {
        CASE(P_OBJECTS("K\x02\x85", "(NK\x07"
                                    "e"),
             "(2,): None; 7"),
        CASE(P_OBJECTS(")", "Na"), "(): None"),
        CASE(P_OBJECTS("K\0\x85", ""), "(0,):"),
        CASE(P_OBJECTS("K\x03K\0\x86", ""), "(3, 0):"),
        CASE(P_OBJECTS("K\x02\x85", "(\x88\x89"
                                    "e"),
             "(2,): True; False"),
        CASE(P_OBJECTS("K\x03\x85", "(M\xff\xffJ\xff\xff\xff\xff\x8a\0e"), "(3,): 65535; -1; 0"),
        CASE(P_OBJECTS("K\x02\x85", "(\x8a\x01\x80\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"
                                    "e"),
             "(2,): -128; 9223372036854775807"),
        CASE(P_OBJECTS("K\x01\x85", "(G\xbf\xe0\0\0\0\0\0\0e"), "(1,): -0x1p-1"),
        CASE(P_OBJECTS("K\x02\x85", "(X\x03\0\0\0a\xc3\xa9\x8c\0e"), "(2,): 'a\xc3\xa9'; ''"),
        CASE(P_OBJECTS("K\x02\x85", "(](K\x01Ne](ee"), "(2,): [1, None]; []"),
        CASE(P_OBJECTS("K\x01\x85", "](K\x01G?\xe0\0\0\0\0\0\0ea"), "(1,): [1, 0x1p-1]"),
        CASE(P_OBJECTS("K\x01\x85", P_ARRAY("K\x01\x85", P_F4, "C\x04wxyz") "a"),
             "(1,): <f4 (1,) 7778797a"),
        CASE(P_OBJECTS("K\x01\x85", P_ARRAY(")", P_DTYPE("b1", "|", "\0"), "C\x01\x01") "a"),
             "(1,): |b1 () 01"),
        CASE(P_OBJECTS("K\x01\x85", P_ARRAY("K\0K\x05\x86", P_F4, "C\0") "a"), "(1,): <f4 (0, 5) "),
        CASE(P_OBJECTS("K\x01\x85", P_ARRAY("(K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x02t",
                                            P_DTYPE("u2", ">", "\0"), "B\x04\0\0\0wxyz") "a"),
             "(1,): >u2 (1, 1, 1, 1, 1, 1, 1, 2) 7778797a"),
        CASE(P_OBJECTS("K\x01\x85", P_SHELL "(K\x01K\x01K\x01\x86" P_F4 "\x88"
                                            "C\x04wxyztba"),
             "(1,): <f4 (1, 1) F 7778797a"),
        /* a state that is kept, with a shape that is not memoised itself */
        CASE(P_OBJECTS("K\x02\x85", P_SHELL "(K\x01K\x01\x85" P_F4 "\x89"
                                            "C\x04wxyztq\x05"
                                            "ba" P_SHELL "h\x05"
                                            "ba"),
             "(2,): <f4 (1,) 7778797a; <f4 (1,) 7778797a"),
        /* numpy scalars */
        CASE(P_OBJECTS("K\x01\x85", "cnumpy.core.multiarray\nscalar\n" P_F4 "C\x04\0\0\xc0?\x86Ra"),
             "(1,): 0x1.8p+0"),
        CASE(P_OBJECTS("K\x01\x85", "cnumpy._core.multiarray\nscalar\n" P_DTYPE(
                                        "i2", ">", "\0") "C\x02\xff\xfe\x86Ra"),
             "(1,): -2"),
        CASE(P_OBJECTS("K\x01\x85", "cnumpy.core.multiarray\nscalar\n" P_DTYPE(
                                        "b1", "|", "\0") "C\x01\x01\x86Ra"),
             "(1,): True"),
        /* protocol 2: bytes as text */
        CASE(P_OBJECTS("K\x01\x85", P_ARRAY("K\x01\x85", P_DTYPE("u2", "<", "\0"),
                                            "c_codecs\nencode\nX\x03\0\0\0a\xc3\xbf"
                                            "X\x06\0\0\0latin1\x86R") "a"),
             "(1,): <u2 (1,) 61ff"),
        CASE(P_OBJECTS("K\x01\x85", P_ARRAY("K\0\x85", P_F4, "c__builtin__\nbytes\n)R") "a"),
             "(1,): <f4 (0,) "),
        /* protocol 5: _frombuffer */
        CASE(P_OBJECTS("K\x01\x85",
                       "cnumpy.core.numeric\n_frombuffer\n(\x96\x04\0\0\0\0\0\0\0wxyz" P_F4
                       "K\x01\x85\x8c\x01"
                       "FtRa"),
             "(1,): <f4 (1,) F 7778797a"),
        /* Python 2: names and order as byte strings, integers for bools */
        CASE("\x80\x02" P_RECONSTRUCT "cnumpy\nndarray\nK\0\x85U\x01"
             "b\x87R(K\x01K\x01\x85"
             "cnumpy\ndtype\nU\x02O8K\0K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
             "K?tb\x89](K\x05"
             "etb.",
             "(1,): 5"),
        /* memo slots in any order, one overwritten, one never fetched; a frame */
        CASE(P_OBJECTS("K\x06\x85", "(K\x05q\x09K\x06q\x01h\x09q\x02K\x07r\x09\0\0\0h\x09"
                                    "j\x01\0\0\0e"),
             "(6,): 5; 6; 5; 7; 7; 6"),
        CASE("\x80\x04\x95\x05\0\0\0\0\0\0\0" P_SHELL "(K\x01K\x03\x85" P_O8
             "\x89](K\x05\x94K\x06\x94h\x01"
             "etb.",
             "(3,): 5; 6; 6"),
        /* a tuple that is kept while others are reused */
        CASE(P_OBJECTS("K\x02\x85", P_SHELL "(K\x01K\x01\x85q\x05" P_F4 "q\x06\x89"
                                            "C\x04wxyztba" P_SHELL "(K\x01h\x05h\x06\x89"
                                            "C\x04zyxwtba"),
             "(2,): <f4 (1,) 7778797a; <f4 (1,) 7a797877"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_reads(cases[i].pickle, cases[i].n_bytes, cases[i].text);
}

static void test_refused(void **state)
{
    static const struct {
        const char *pickle;
        size_t n_bytes;
        const char *message; /* a part of it */
    } cases[] = {
        /* the stream */
        CASE("", "not a pickle"),
        CASE("\x80", "not a pickle"),
        CASE("cposix\nsystem\n(S'true'\ntR.", "nothing was executed"),
        CASE("\x80\x01N.", "protocol 1"),
        CASE("\x80\x06N.", "protocol 6"),
        CASE("\x80\x03\x80\x03N.", "a second protocol number"),
        CASE("\x80\x03", "truncated"),
        CASE("\x80\x03"
             "B\xff\xff\xff\x7f"
             "abc",
             "truncated"),
        CASE("\x80\x05\x96\xff\xff\xff\xff\xff\xff\xff\xff"
             "abc",
             "truncated"),
        CASE("\x80\x03"
             "cnumpy\nndarr",
             "truncated"),
        CASE("\x80\x04\x95\0\0\0\0\0\0\0\x10N.", "frame of 1152921504606846976 bytes"),
        CASE("\x80\x03N.", "it holds None"),
        CASE("\x80\x03].", "it holds a list"),
        CASE("\x80\x03" P_SHELL ".", "it holds an array"),
        CASE("\x80\x03" P_ARRAY("K\x01\x85", P_F4, "C\x04wxyz") ".", "it holds an array"),
        CASE("\x80\x03" P_SHELL "(K\x01K\x01\x85" P_O8 "\x89](Netb\x85.", "it holds a tuple"),
        CASE("\x80\x03.", "0 values on the stack"),
        CASE("\x80\x03NN.", "2 values on the stack"),
        CASE("\x80\x03N(.", "a mark is left on the stack"),
        CASE(P_OBJECTS("K\0\x85", "") "N", "1 bytes after the end"),
        CASE(P_OBJECTS("K\0\x85", "") "\n", "1 bytes after the end"),
        /* the stack and the memo */
        CASE("\x80\x03\x85.", "stack underflow"),
        CASE("\x80\x03N\x87.", "stack underflow"),
        CASE("\x80\x03N(\x85.", "stack underflow"),
        CASE("\x80\x03]a.", "stack underflow"),
        CASE("\x80\x03]Na(b.", "stack underflow"),
        CASE("\x80\x03NR.", "stack underflow"),
        CASE("\x80\x04\x8c\x01"
             "a\x93.",
             "stack underflow"),
        CASE("\x80\x03q\0.", "stack underflow"),
        CASE("\x80\x03Nt.", "no mark"),
        CASE("\x80\x03Ne.", "no mark"),
        CASE("\x80\x03]((Ne.", "stack underflow"),
        CASE("\x80\x03N(Ne.", "items for None"),
        CASE("\x80\x03Nh\x05.", "memo slot 5 is not set"),
        CASE("\x80\x03Nq\0h\x05.", "memo slot 5 is not set"),
        CASE("\x80\x03h\0q\0.", "memo slot 0 is not set"),
        CASE("\x80\x03Nr\xff\xff\xff\xff.", "memo slot 4294967295 is too large"),
        CASE("\x80\x03Nq\x06.", "memo slot 6 is too large"),
        CASE("\x80\x04Nq\0\x94.", "MEMOIZE and PUT"),
        /* names and opcodes that would do something */
        CASE("\x80\x03"
             "cposix\nsystem\nX\x04\0\0\0true\x85R.",
             "it names 'posix.system'"),
        CASE("\x80\x03"
             "cbuiltins\neval\n.",
             "nothing was executed"),
        CASE("\x80\x03"
             "cnumpy\nndarrayx\n.",
             "it names 'numpy.ndarrayx'"),
        CASE("\x80\x03"
             "cnumpy\nndarra\n.",
             "it names"),
        CASE("\x80\x03"
             "cnump\ndtype\n.",
             "it names"),
        CASE("\x80\x03"
             "c\x1b[2J\n\x07\n.",
             "it names '\\x1b[2J.\\x07'"),
        CASE("\x80\x04\x8c\x05posix\x8c\x06system\x93.", "it names 'posix.system'"),
        CASE("\x80\x04K\x01\x8c\x06system\x93.", "name made of an int and a str"),
        CASE("\x80\x02\x82\x01.", "extension registry"),
        CASE("\x80\x03NQ.", "a persistent object"),
        CASE("\x80\x03"
             "P1\n.",
             "a persistent object"),
        CASE("\x80\x03"
             "cnumpy\ndtype\n)\x81.",
             "an instance of a class"),
        CASE("\x80\x03(cnumpy\ndtype\no.", "an instance of a class"),
        CASE("\x80\x03}.", "a dict"),
        CASE("\x80\x04\x8f.", "a set"),
        CASE("\x80\x05\x97.", "out-of-band"),
        CASE("\x80\x03\x8b\xff\xff\xff\x7f"
             "a.",
             "beyond 64 bits"),
        CASE("\x80\x03N0.", "opcode 0x30 is refused"),
        CASE("\x80\x03N2.", "opcode 0x32 is refused"),
        CASE("\x80\x03I1\n.", "opcode 0x49 is refused"),
        CASE("\x80\x03\x8a\x09\0\0\0\0\0\0\0\0\x01.", "beyond 64 bits"),
        /* REDUCE */
        CASE("\x80\x03NN\x85R.", "call of None"),
        CASE("\x80\x03"
             "cnumpy\ndtype\n]R.",
             "call of a class or function with a list"),
        CASE("\x80\x03"
             "cnumpy\nndarray\n)R.",
             "arguments of ndarray"),
        CASE("\x80\x03" P_RECONSTRUCT ")R.", "numpy writes, found 0"),
        CASE("\x80\x03" P_RECONSTRUCT "cnumpy\ndtype\nK\0\x85"
             "C\x01"
             "b\x87R.",
             "arguments of _reconstruct"),
        CASE("\x80\x03" P_RECONSTRUCT "cnumpy\nndarray\nK\x01\x85"
             "C\x01"
             "b\x87R.",
             "arguments of _reconstruct"),
        CASE("\x80\x03" P_RECONSTRUCT "cnumpy\nndarray\nK\0\x85"
             "C\x01"
             "c\x87R.",
             "arguments of _reconstruct"),
        CASE("\x80\x03" P_DTYPE("c8", "<", "\0") ".", "dtype 'c8' is not accepted"),
        CASE("\x80\x03" P_DTYPE("V4", "|", "\0") ".", "dtype 'V4' is not accepted"),
        CASE("\x80\x03" P_DTYPE("i3", "<", "\0") ".", "dtype 'i3' is not accepted"),
        CASE("\x80\x03" P_DTYPE("<i", "<", "\0") ".", "dtype '<i' is not accepted"),
        CASE("\x80\x03" P_DTYPE("f4", "|", "\0") ".", "byte order of a dtype"),
        CASE("\x80\x03" P_DTYPE("f4", "=", "\0") ".", "byte order of a dtype"),
        CASE("\x80\x03" P_DTYPE("u1", "<", "\0") ".", "byte order of a dtype"),
        CASE("\x80\x03" P_DTYPE("f4", "<", "?") ".", "state of a dtype"),
        CASE("\x80\x03" P_DTYPE("O8", "|", "\0") ".", "state of a dtype"),
        CASE("\x80\x03" P_F4 "N\x85"
             "b.",
             "state of a dtype"),
        CASE("\x80\x03"
             "cnumpy.core.multiarray\nscalar\n" P_F4 "C\x02xx\x86R.",
             "scalar of 2 bytes"),
        CASE("\x80\x03"
             "cnumpy.core.multiarray\nscalar\n" P_O8 "C\0\x86R.",
             "not of numbers"),
        CASE("\x80\x03"
             "cnumpy.core.multiarray\nscalar\n" P_DTYPE(
                 "u8", "<", "\0") "C\x08\xff\xff\xff\xff\xff\xff\xff\xff\x86R.",
             "below 2^63, found 18446744073709551615"),
        CASE("\x80\x03"
             "c_codecs\nencode\nX\x02\0\0\0\xc4\x80X\x06\0\0\0latin1\x86R.",
             "not Latin-1"),
        CASE("\x80\x03"
             "c_codecs\nencode\nX\x01\0\0\0\xc3X\x06\0\0\0latin1\x86R.",
             "not Latin-1"),
        CASE("\x80\x03"
             "c_codecs\nencode\nX\0\0\0\0X\x05\0\0\0rot13\x86R.",
             "expected (str, 'latin1'), found (str, 'rot13')"),
        CASE("\x80\x02"
             "c_codecs\nencode\nX\x01\0\0\0\xc3\x8c\x06latin1\x86R.",
             "not Latin-1"),
        CASE("\x80\x05"
             "cnumpy.core.numeric\n_frombuffer\n(C\x04wxyz" P_F4 "K\x01\x85\x8c\x01KtR.",
             "axis order"),
        CASE("\x80\x05"
             "cnumpy.core.numeric\n_frombuffer\n(C\x03wxy" P_F4 "K\x01\x85\x8c\x01"
             "CtR.",
             "array data of 3 bytes"),
        /* BUILD */
        CASE("\x80\x03NN\x85"
             "b.",
             "state of None"),
        CASE("\x80\x03" P_SHELL "Nb.", "not a tuple"),
        CASE("\x80\x03" P_SHELL ")b.", "state of an array"),
        CASE("\x80\x03" P_SHELL "(K\x02K\x01\x85" P_F4 "\x89"
             "C\x04wxyztb.",
             "state of an array"),
        CASE("\x80\x03" P_ARRAY("K\x01\x85", P_F4, "C\x04wxyz") ")b.", "second state"),
        CASE("\x80\x03" P_ARRAY("K\x02\x85", P_F4, "C\x04wxyz") ".", "its shape needs 8"),
        CASE("\x80\x03" P_ARRAY("K\x01\x85", P_F4, "C\x05wxyz!") ".", "array data of 5 bytes"),
        CASE("\x80\x03" P_ARRAY("N\x85", P_F4, "C\x04wxyz") ".", "dimension is None"),
        CASE("\x80\x03" P_ARRAY("J\xff\xff\xff\xff\x85", P_F4, "C\0") ".", "negative"),
        CASE("\x80\x03" P_ARRAY("(K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01K\x01t", P_F4,
                                "C\x04wxyz") ".",
             "9 dimensions"),
        CASE("\x80\x03" P_ARRAY("K\0\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7fK\x09\x87", P_F4,
                                "C\0") ".",
             "found shape (0, 9223372036854775807)..."),
        CASE("\x80\x03" P_ARRAY("K\x01\x85", P_O8, "C\x08wxyzwxyz") ".", "a number's, found |O"),
        CASE("\x80\x03" P_ARRAY("K\x01\x85", P_F4, "](Ne") ".", "state of an array"),
        /* the list of an object array */
        CASE(P_OBJECTS("K\x05\x85", "(NNNNe"), "4 items, its shape needs 5"),
        CASE(P_OBJECTS("K\x03\x85", "(NNNNe"), "4 items, its shape needs 3"),
        CASE("\x80\x03" P_SHELL "(K\x01K\x01\x85" P_O8 "\x89]q\x01(Netbh\x01Na.", "2 values"),
        CASE(P_OBJECTS("K\x01\x85", "]](Neaa"), "item 0 is or holds a list"),
        CASE(P_OBJECTS("K\x02\x85", "(NN\x85"
                                    "e"),
             "a list holds a tuple"),
        CASE(P_OBJECTS("K\x01\x85", "C\x01xa"), "is or holds bytes"),
        CASE(P_OBJECTS("K\x01\x85", P_F4 "a"), "is or holds a dtype"),
        CASE(P_OBJECTS("K\x01\x85", "cnumpy\ndtype\na"), "is or holds a class"),
        CASE(P_OBJECTS("K\x01\x85", P_SHELL "a"), "array without data"),
        CASE(P_OBJECTS("K\x01\x85", "]" P_ARRAY("K\x01\x85", P_F4, "C\x04wxyz") "aa"),
             "holds an array"),
        CASE(P_OBJECTS("K\x01\x85", "X\x01\0\0\0\xff"
                                    "a"),
             "not UTF-8"),
        CASE(P_OBJECTS("K\x01\x85", "X\x03\0\0\0\xed\xa0\x80"
                                    "a"),
             "not UTF-8"),
        CASE(P_OBJECTS("K\x01\x85", P_SHELL "(K\x01K\x01\x85" P_O8 "\x89](Netb"
                                            "a"),
             "object array inside"),
        /* cycles: a list in itself, an array in itself */
        CASE(P_OBJECTS("K\x01\x85", "]q\x01h\x01"
                                    "aa"),
             "is or holds a list"),
        CASE("\x80\x03" P_SHELL "q\x01(K\x01K\x01\x85" P_O8 "\x89]h\x01"
             "atb.",
             "object array inside"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pickle_document document;
        struct error err = {0};
        uint8_t *copy;

        if (read_copy(cases[i].pickle, cases[i].n_bytes, &pickle_default_limits, &copy, &document,
                      &err) == 0)
            fail_msg("case %zu accepted, expected '%s'", i, cases[i].message);
        assert_int_equal(err.kind, ERROR_DATA);
        assert_int_equal(strncmp(err.message, "byte ", 5), 0);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("case %zu: message is '%s', expected '%s'", i, err.message, cases[i].message);
        assert_null(document.chunks);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
