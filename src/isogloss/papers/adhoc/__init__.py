"""The ad hoc retrieval paper: word vectors of two languages, joined by a translation matrix.

    Ahmad Altaweel, Daria Sadova, Mohammad Deaa Barni and Rafik Takieddin. Cross-Lingual ad hoc Semantic Retrieval.
    University of Mannheim (no year is given).

The paper fits a matrix on 4,000 pairs of words, which maps the word vectors of one language to the space of the other.
A text is the TF-IDF weighted average of its word vectors, and the cosine ranks documents. The paper measures how well
a document finds its counterpart in the other language, and it lets the user type queries.

**Systems and baselines.** The paper has one system and compares it with no other:

    aligned             isogloss.papers.adhoc.aligned:Aligned

    method=paper        the paper's choices, isogloss.papers.adhoc.aligned.PAPER_SETTINGS
    method=best         the default: a rotation of vectors of unit length, and query words moved to their translations

    isogloss evaluate aligned --set method=paper --data SOURCE --pair en-es

The item ``queries`` compares it with three lexical systems of the engine. They are ``bm25``
(isogloss.systems.bm25:UntranslatedBM25), ``bm25-dict`` (isogloss.systems.dictionary:DictionaryBM25) and ``psq``
(isogloss.systems.dictionary:ProbabilisticStructuredQueries).

**From the paper to the code.** A name without ``isogloss.`` is short for ``isogloss.papers.`` and the name. A single
name after a comma is in the module that was named before it.

    1      GloVe and word2vec files               word_vectors.files.read_vectors; word_vectors.formats
           4,000 most frequent words, in pairs    word_vectors.alignment.frequent_pairs
           stop words                             isogloss.text.stopwords.stop_words (option drop_stop_words)
    2      the joint semantic space               word_vectors.joint_space.join_spaces
           (1) M = pinv(S) T                      word_vectors.alignment.align (option alignment=pinv)
           (2) the pseudo-inverse                 word_vectors.alignment.align (solved by least squares)
    2.1.1  the data set, its file format          adhoc.tfidf_matrix.Platt (source ``platt:DIR``), read_sparse
           its vocabulary                         adhoc.vocabulary.Vocabulary (options drop_frequent and vocabulary)
           making such data of other data         adhoc.tfidf_matrix.write_platt
    2.1.2  (3) weighted average of word vectors   word_vectors.weighted_average.WeightedAverage
           (3) with the weights of the data set   word_vectors.weighted_average.encode_weights
           English documents, mapped by M         adhoc.aligned.Aligned.encode_mates
           Spanish documents                      adhoc.aligned.Aligned.encode_documents
    2.2    (4) cosine, the best match             adhoc.experiments.search_mates
           output file                            adhoc.experiments.write_ranked (``ranked.csv``)
           more matches of one document           no command
    2.3    pairs of comparable documents          adhoc.tfidf_matrix.find_mates, adhoc.experiments.known_mates
           AP = 1 / rank, (5) MAP                 adhoc.experiments.MateRun.mean_average_precision
           R-precision                            adhoc.experiments.MateRun.r_precision
    3.1    ranking according to a query           adhoc.aligned.Aligned.encode_queries; isogloss search INDEX
    3.2    average TF-IDF of a query word         word_vectors.weighted_average.mean_tfidf, mean_weights
           toy collection                         adhoc.experiments.toy, typical_words, search_toy

**Tables and figures.** The paper has neither. These items repeat its experiments; figure and queries go beyond it:

    isogloss reproduce adhoc table --data SOURCE --pair en-es -o DIR      2.3: MAP, R-precision and ``ranked.csv``
    isogloss reproduce adhoc figure --data SOURCE --pair en-es -o DIR     MAP against the number of word pairs
    isogloss reproduce adhoc queries --data SOURCE --pair en-es -o DIR    3.1, judged queries and lexical systems
    isogloss reproduce adhoc toy --data demo --pair en-fr -o DIR          3.2 on the bundled collection

The options ``--lexicon``, ``--query-vectors`` and ``--document-vectors`` take files like those of the paper. Without
them the lexicon comes from the data, and vectors are trained on the documents.

**Differences.** Section 2 maps Spanish to English, whereas section 2.1.2 maps English to Spanish: the code follows
2.1.2. The paper does not define its TF-IDF, and its weights of query words are read in its favour
(query_weights=tfidf-all: its wording). Words without a vector are skipped. Its value, MAP .1565, was measured on data
that we do not have. All readings are in docs/decisions/reading-the-papers.md, and the measured results are in
docs/results/adhoc.md.
"""
