"""Give a LangChain chain documents in another language. Needs ``pip install 'isogloss[langchain]'``."""

from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough

from isogloss import Index
from isogloss.integrations.langchain import IsoglossRetriever

index = Index.make("demo", "fr", system="psq")
retriever = IsoglossRetriever(index=index, k=2, snippets=True)
for document in retriever.invoke("how do bees make honey?"):
    print(document.metadata["title"], document.page_content, sep=": ")

prompt = ChatPromptTemplate.from_template("Answer in English.\n\nPages: {pages}\n\nQuestion: {question}")
chain = {"pages": retriever, "question": RunnablePassthrough()} | prompt  # | your model
print(len(chain.invoke("why does a volcano erupt?").to_string()), "characters for the model")
